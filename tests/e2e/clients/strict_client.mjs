// The official TypeScript SDK as client of any ACP agent; it zod-checks every update. Prints a line per check, exits 1
// on a failure.
//   node strict_client.mjs WORKSPACE [--fs] -- AGENT COMMAND…
// The agent's model is scripted: 1 changes x to 2, 2 changes it to 3, 3 talks until it is cancelled, 4 says "Back".
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const separator = process.argv.indexOf("--");
const [workspace, ...flags] = process.argv.slice(2, separator);
const command = process.argv.slice(separator + 1);
const servesFiles = flags.includes("--fs");
const file = path.join(workspace, "a.py");
const methods = acp.methods;
const LIMIT_MS = 20_000;
const STOP_REASONS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
const STRAY = /Error handling|Invalid params|ZodError/;

let failed = false;
function check(name, holds, detail = "") {
  failed ||= !holds;
  console.log(holds ? "PASS" : "FAIL", name, String(detail).slice(0, 400));
}

// What the SDK dislikes about a message it only logs.
for (const level of ["error", "warn"]) {
  console[level] = (...words) => {
    const text = words.map(String).join(" ");
    if (STRAY.test(text)) check("every message parses", false, text);
    else process.stderr.write(`${text}\n`);
  };
}

function limited(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("timeout")), LIMIT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function refused(name, code, ask) {
  try {
    check(name, false, JSON.stringify(await limited(ask())));
  } catch (error) {
    check(name, error.code === code, `${error.code} ${error.message}`);
  }
}

/** One agent process and what its client saw. */
async function talk(converse) {
  const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const seen = { updates: [], questions: [], answer: "allow_once", onUpdate: () => {} };
  const buffers = new Map([[file, fs.readFileSync(file, "utf8")]]);
  const app = acp
    .client({ name: "strict" })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      seen.questions.push(params);
      const option = params.options.find((one) => one.kind === seen.answer);
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      if (!buffers.has(params.path)) throw acp.RequestError.resourceNotFound(params.path);
      return { content: buffers.get(params.path) };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      buffers.set(params.path, params.content);
      return {};
    })
    .onNotification(methods.client.session.update, ({ params }) => {
      seen.updates.push(params);
      seen.onUpdate(params.update);
    });
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const text = () => (servesFiles ? buffers.get(file) : fs.readFileSync(file, "utf8"));
  await app.connectWith(stream, async (agent) => {
    const clientCapabilities = { fs: { readTextFile: servesFiles, writeTextFile: servesFiles } };
    const clientInfo = { name: "strict", version: "0" };
    const params = { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities, clientInfo };
    const hello = await limited(agent.request(methods.agent.initialize, params));
    check("version 1 is agreed on", hello.protocolVersion === 1, hello.protocolVersion);
    await converse(agent, seen, text);
  });
  const left = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  check("the end of input ends the agent", (await limited(left)) === 0);
}

let session;

await talk(async (agent, seen, text) => {
  const opened = await limited(agent.request(methods.agent.session.new, { cwd: workspace, mcpServers: [] }));
  session = opened.sessionId;
  const say = (words) => ({ sessionId: session, prompt: [{ type: "text", text: words }] });
  /** Until all is here that was on its way: the agent's messages keep their order. */
  const told = () => limited(agent.request(methods.agent.session.list, {}));
  const prompt = async (words) => {
    const answer = await limited(agent.request(methods.agent.session.prompt, say(words)));
    check(`"${words}" has a stop reason`, STOP_REASONS.includes(answer.stopReason), answer.stopReason);
    const before = seen.updates.length;
    await told();
    check(`"${words}" is followed by nothing`, seen.updates.length === before);
    return answer.stopReason;
  };

  await prompt("two");
  check("a diff was asked about", seen.questions[0]?.toolCall.content?.[0]?.type === "diff");
  check("an allowed edit is there", text() === "x = 2\n", text());

  seen.answer = "reject_once";
  await prompt("three");
  check("a rejected edit is not", text() === "x = 2\n", text());

  const speaking = new Promise((resolve) => {
    seen.onUpdate = (update) => update.sessionUpdate === "agent_message_chunk" && resolve();
  });
  const running = agent.request(methods.agent.session.prompt, say("talk"));
  await limited(speaking);
  await agent.notify(methods.agent.session.cancel, { sessionId: session });
  check("a cancelled turn says so", (await limited(running)).stopReason === "cancelled");
  check("the next prompt works", (await prompt("again")) === "end_turn");

  const mode = await limited(
    agent.request(methods.agent.session.setConfigOption, { sessionId: session, configId: "mode", value: "plan" }),
  );
  check("options come back whole", mode.configOptions.find((one) => one.id === "mode")?.currentValue === "plan");
  const listed = await limited(agent.request(methods.agent.session.list, {}));
  check("the session is listed", listed.sessions.some((one) => one.sessionId === session));

  const last = new Map();
  for (const { update } of seen.updates) {
    if (update.toolCallId) last.set(update.toolCallId, update.status ?? last.get(update.toolCallId));
  }
  const open = [...last].filter(([, status]) => !["completed", "failed"].includes(status));
  check("every call ended", last.size === 2 && open.length === 0, JSON.stringify([...last]));

  await refused("an unknown method", -32601, () => agent.request("session/definitely_not", {}));
  await refused("an unknown extension", -32601, () => agent.request("_nope/x", {}));
  await refused("an unknown session", -32002, () =>
    agent.request(methods.agent.session.prompt, { ...say("x"), sessionId: "no-such" }),
  );
  await refused("a cwd that is no path", -32602, () => agent.request("session/new", { cwd: 5 }));
  await refused("a relative cwd", -32602, () => agent.request("session/new", { cwd: "rel", mcpServers: [] }));
});

await talk(async (agent, seen) => {
  await limited(agent.request(methods.agent.session.load, { sessionId: session, cwd: workspace, mcpServers: [] }));
  // What a prompt may begin with follows the answer; all that was said comes before it.
  const said = () => seen.updates.filter(({ update }) => update.sessionUpdate !== "available_commands_update").length;
  const shown = said();
  const prompts = seen.updates.filter(({ update }) => update.sessionUpdate === "user_message_chunk");
  check("a loaded session shows every prompt", prompts.length === 4, prompts.length);
  await limited(agent.request(methods.agent.session.list, {})); // what was on its way is here when this is
  check("all of it before the answer", said() === shown);
});

process.exit(failed ? 1 : 0);
