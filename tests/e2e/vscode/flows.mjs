// node flows.mjs NAME URL RUN: one story in a real workbench. Exits with 0 when it went as told; else RUN/failed.png shows
// what the screen was like. Files and processes are judged by the test that started it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { withWorkbench } from "./workbench.mjs";

const AXE = createRequire(`${process.env.LAB}/`).resolve("axe-core/axe.min.js");

const flows = {
  /** From the palette: stream, tool calls, a diff judged hunk by hunk, a command asked about. */
  async review(w) {
    await w.openFile("dates.py");
    await w.command("Agent: Ask…");
    await w.answer("Make parse_date accept ISO weeks");
    const chat = await w.chat();
    await chat.locator(".user", { hasText: "Make parse_date accept ISO weeks" }).waitFor();
    await chat.locator(".tool.completed", { hasText: "search" }).waitFor();
    await w.tab("dates.py (proposed)").waitFor();
    await w.status(/edit to review/);
    await w.lens("Accept").first().click();
    await w.note("Accepted · 1 of 4").waitFor();
    await w.lens("Reject").last().click(); // the fourth
    await w.lens("4 of 4").waitFor({ state: "detached" });
    await chat.locator(".review-bar", { hasText: "2 edits in 1 file" }).waitFor();
    await chat.getByRole("button", { name: "Accept all" }).click();
    await w.tab("dates.py (proposed)").waitFor({ state: "detached" });
    await chat.locator(".question code", { hasText: "print(dates" }).waitFor();
    await noSeriousViolation(chat);
    await chat.getByRole("button", { name: "Allow once" }).click();
    await chat.locator(".end").waitFor();
    await chat.locator(".message", { hasText: "ISO weeks" }).last().waitFor();
    await noSeriousViolation(chat);
  },

  /** From a selection, without a mouse: a file that is not open, a whole review by keys. */
  async keys(w) {
    await w.openFile("other.py");
    await w.page.keyboard.press("Control+a");
    await w.page.locator(".statusbar-item", { hasText: "selected" }).waitFor();
    await w.page.keyboard.press("Control+Alt+k");
    await w.answer("Make parse_date accept ISO weeks");
    await w.tab("dates.py (proposed)").waitFor();
    const chat = await w.chat();
    await chat.locator(".attached", { hasText: "other.py" }).waitFor();
    await w.lens("1 of 4").waitFor();
    await w.page.keyboard.press("Control+Alt+r");
    await w.focused(".monaco-diff-editor");
    await w.page.keyboard.press("Alt+n");
    await w.lens("1 of 4").waitFor({ state: "detached" });
    await w.page.keyboard.press("Alt+j");
    await w.page.keyboard.press("Alt+y");
    await w.note("Accepted").waitFor();
    await w.page.keyboard.press("Alt+Shift+y");
    await w.tab("dates.py (proposed)").waitFor({ state: "detached" });
    await chat.locator(".tool.completed", { hasText: "edit" }).waitFor();
    await w.focused(".monaco-editor"); // back where the person was
  },

  /** Escape in the chat ends an answer that streams; what was said stays. */
  async cancel(w) {
    await w.command("Agent: Open chat");
    const chat = await w.chat();
    await chat.getByRole("textbox", { name: "Prompt" }).fill("Count to a thousand");
    await w.page.keyboard.press("Enter");
    await chat.locator(".message", { hasText: "12" }).waitFor();
    await w.status(/Agent: streaming/);
    await w.page.keyboard.press("Escape");
    await chat.locator(".end", { hasText: "Cancelled" }).waitFor();
    await w.status(/^\W*Agent$/);
    assert.match(await chat.locator(".message").innerText(), /^1 2 3 .*12/);
  },

  /** A question while the chat is hidden is a dialog; closing that decides nothing. Reload brings the session back. */
  async hidden(w) {
    await w.command("Agent: Open chat");
    await (await w.chat()).getByRole("textbox", { name: "Prompt" }).fill("Run it");
    await w.page.keyboard.press("Enter");
    await w.command("View: Show Explorer");
    const dialog = w.page.locator(".monaco-dialog-box", { hasText: "echo asked" });
    await dialog.waitFor();
    await w.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await w.status(/waiting for you/);
    await w.command("Agent: Open chat");
    const chat = await w.chat();
    await chat.getByRole("button", { name: "No, and say why…" }).click();
    await w.page.keyboard.type("not now");
    await w.page.keyboard.press("Enter");
    await chat.locator(".question.answered", { hasText: "not now" }).waitFor();
    await chat.locator(".message", { hasText: "I did not run it" }).waitFor();

    await w.page.reload();
    const again = await w.chat();
    await again.locator(".user", { hasText: "Run it" }).waitFor();
    await again.locator(".message", { hasText: "I did not run it" }).waitFor();
  },

  /** A server that is killed comes back, and the session with it. */
  async killed(w) {
    await w.command("Agent: Ask…");
    await w.answer("Say something");
    const chat = await w.chat();
    await chat.locator(".message", { hasText: "First answer" }).waitFor();
    for (const pid of servers()) process.kill(pid, "SIGKILL");
    await w.status(/not running/);
    await w.status(/^\W*Agent$/);
    await chat.getByRole("textbox", { name: "Prompt" }).fill("And again");
    await w.page.keyboard.press("Enter");
    await chat.locator(".message", { hasText: "Second answer" }).waitFor();
  },

  /** Without a server the chat says so, and what to do. */
  async missing(w) {
    await w.command("Agent: Open chat");
    const chat = await w.chat();
    await chat.locator(".trouble", { hasText: "does not exist" }).waitFor();
    await w.status(/not running/);
    await noSeriousViolation(chat);
  },
};

/** The agent's processes that this run started. */
function servers() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isServer = /agent.server\0lsp\0/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
        return isServer && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`AGENT_SERVER_HOME=${process.env.AGENT_SERVER_HOME}\0`);
      } catch {
        return false; // ended meanwhile
      }
    })
    .map(Number);
}

async function noSeriousViolation(frame) {
  await frame.evaluate(readFileSync(AXE, "utf8"));
  const { violations } = await frame.evaluate("axe.run('#chat')");
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} (${node.failureSummary})`).join("; ")}`);
  assert.deepEqual(serious, []);
}

const [name, url, run] = process.argv.slice(2);
await withWorkbench(url, async (workbench) => {
  try {
    await flows[name](workbench);
  } catch (error) {
    await workbench.shot(`${run}/failed.png`);
    throw error;
  }
});
