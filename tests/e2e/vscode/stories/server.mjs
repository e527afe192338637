// The server: killed, and not there.
import { readdirSync, readFileSync } from "node:fs";
import { noSeriousViolation } from "../workbench.mjs";

/** A server that is killed comes back, and the session with it. */
export async function killed(w) {
  const chat = await w.ask("Say something");
  await chat.locator(".message", { hasText: "First answer" }).waitFor();
  for (const pid of servers()) process.kill(pid, "SIGKILL");
  await w.status(/not running/);
  await w.status(/^\W*Agent$/);
  await chat.getByRole("textbox", { name: "Prompt" }).fill("And again");
  await w.press("Enter");
  await chat.locator(".message", { hasText: "Second answer" }).waitFor();
}

/** Without a server the chat says so, and what to do. */
export async function missing(w) {
  await w.command("Agent: Open chat");
  const chat = await w.chat();
  await chat.locator(".trouble", { hasText: "does not exist" }).waitFor();
  await w.status(/not running/);
  await noSeriousViolation(chat);
}

/** The agent's processes that this run started. */
function servers() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isServer = /agent.server\0lsp\0/.test(read(pid, "cmdline"));
        return isServer && read(pid, "environ").includes(`AGENT_SERVER_HOME=${process.env.AGENT_SERVER_HOME}\0`);
      } catch {
        return false; // ended meanwhile
      }
    })
    .map(Number);
}

function read(pid, name) {
  return readFileSync(`/proc/${pid}/${name}`, "utf8");
}
