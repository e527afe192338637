// The server: killed, and not there.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { noSeriousViolation } from "../workbench.mjs";

/** An environment of Python, and pip on a hundred packages. */
const INSTALL_MS = 120_000;

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

/**
 * An edit waits and a hunk of it is decided; then the window is reloaded, and the server killed: each time the edit is
 * still there, from the status bar, the chat and its tab, the hunk is decided, and the call has ended.
 */
export async function leftOpen(w) {
  await w.ask("Make parse_date accept ISO weeks");
  await w.lens("4 of 4").waitFor();
  await w.lens("Reject").first().click();
  await w.lens("1 of 4").waitFor({ state: "detached" });
  await w.page.reload();
  await w.toast("was left open when the server stopped").waitFor();
  await w.status(/edit to review/);
  await w.command("Agent: Open chat");
  const chat = await w.chat();
  await chat.locator(".review-bar", { hasText: "3 edits in 1 file" }).waitFor();
  await chat.locator(".tool.failed", { hasText: "edit" }).waitFor();
  await chat.getByRole("button", { name: "Review" }).click();
  await w.inDiff("dates.py (proposed)", "ISO_WEEK");
  assert.equal(await w.lens("1 of 4").count(), 0);
  for (const pid of servers()) process.kill(pid, "SIGKILL");
  await w.status(/not running/);
  await w.status(/edit to review/);
  await w.command("Agent: Review the proposed edits");
  await w.inDiff("dates.py (proposed)", "ISO_WEEK");
  assert.equal(await w.lens("1 of 4").count(), 0);
  await w.lens("Accept").first().click();
  await w.note("Accepted · 2 of 4").waitFor();
  await w.command("Agent: Accept all proposed edits");
  await w.command("Focus on Proposed changes View");
  await w.row("applied").waitFor();
}

/** The first start without a server: the walkthrough, and the one that the extension carries, by one click. */
export async function carried(w) {
  await w.command("Welcome: Open Walkthrough...");
  await w.pick("Start with the agent");
  await w.page.locator(".getting-started-step", { hasText: "Choose a model, or try the demo" }).waitFor();
  await w.command("Agent: Open chat");
  const chat = await w.chat();
  await chat.getByRole("button", { name: "Install" }).click();
  await chat.locator(".trouble").waitFor({ state: "detached", timeout: INSTALL_MS });
  await chat.getByRole("textbox", { name: "Prompt" }).fill("Hello");
  await w.press("Enter");
  await chat.locator(".message", { hasText: "Hello from the carried server" }).waitFor();
}

/** The doctor's report is in an editor and stays there; the demo runs as a task, whose terminal stays. */
export async function programs(w) {
  await w.command("Agent: Check the installation (doctor)");
  await w.tab("Agent: doctor.txt").waitFor();
  await w.page.locator(".editor-container .view-lines", { hasText: "ripgrep" }).waitFor();
  await w.command("Agent: Try the demo");
  const terminal = w.page.locator(".terminal-wrapper.active .xterm-rows, .terminal-wrapper .xterm-rows").last();
  await terminal.getByText(/Executing task/).first().waitFor();
  await w.tab("Agent: doctor.txt").waitFor();
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
