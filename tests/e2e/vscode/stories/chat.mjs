// The chat: what it shows, and what it survives.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";

/** Escape in the chat ends an answer that streams; what was said stays. */
export async function cancel(w) {
  await w.command("Agent: Open chat");
  const chat = await w.chat();
  await chat.getByRole("textbox", { name: "Prompt" }).fill("Count to a thousand");
  await w.press("Enter");
  await chat.locator(".message", { hasText: "12" }).waitFor();
  await w.status(/Agent: streaming/);
  await w.press("Escape");
  await chat.locator(".end", { hasText: "Cancelled" }).waitFor();
  await w.status(/^\W*Agent$/);
  assert.match(await chat.locator(".message").innerText(), /^1 2 3 .*12/);
}

/**
 * A question while the chat is hidden takes no keyboard: who types goes on typing, and nothing is allowed. It is shown by
 * the notification and the status bar, and answered on its card. Reload brings the session back.
 */
export async function hidden(w, place) {
  await w.openFile("notes.txt");
  await w.command("Agent: Open chat");
  await (await w.chat()).getByRole("textbox", { name: "Prompt" }).fill("Run it");
  await w.press("Enter");
  await w.command("View: Show Explorer");
  await w.tab("notes.txt").click();
  await w.focused(".editor-container .monaco-editor");
  await w.status(/waiting for you/);
  await w.toast("echo asked").waitFor();
  await w.page.keyboard.type("one\ntwo y\n\nthree ");
  await w.page.locator(".editor-container .view-line", { hasText: "three" }).waitFor();
  assert.equal(await w.page.locator(".monaco-dialog-box, .quick-input-widget:visible").count(), 0);
  await w.status(/waiting for you/);

  await w.toast("echo asked").getByText("Show").click();
  let chat = await w.chat();
  await chat.waitForFunction(() => document.activeElement?.matches("[data-question]"));
  await w.page.keyboard.type(" y\n"); // on the card, and on none of its buttons
  await w.command("View: Show Explorer");
  await w.page.locator(".statusbar-item", { hasText: "waiting for you" }).click();
  chat = await w.chat();
  await chat.waitForFunction(() => document.activeElement?.matches("[data-question]"));
  assert.equal(existsSync(`${place}/workspace/asked.txt`), false);
  await chat.getByRole("button", { name: "No, and say why…" }).click();
  await chat.getByRole("textbox", { name: "Why not" }).fill("not now");
  await w.press("Enter");
  await chat.locator(".question.answered", { hasText: "not now" }).waitFor();
  await chat.locator(".message", { hasText: "I did not run it" }).waitFor();

  await w.page.reload();
  const again = await w.chat();
  await again.locator(".user", { hasText: "Run it" }).waitFor();
  await again.locator(".message", { hasText: "I did not run it" }).waitFor();
}

/** However the chat is opened, what is typed next is in its input: also the first time, when its page is not there yet. */
export async function focus(w) {
  const icon = w.page.locator(".activitybar").getByRole("tab", { name: /^Agent/ });
  const ways = {
    icon: () => icon.click(),
    palette: () => w.command("Agent: Open chat"),
    status: () => w.page.locator(".statusbar-item", { hasText: /^\W*Agent$/ }).click(),
    key: () => w.press(OPEN_CHAT),
  };
  for (const first of ["icon", "status"]) {
    for (const name of [first, ...Object.keys(ways).filter((one) => one !== first)]) {
      await w.openFile("notes.txt");
      await ways[name]();
      const chat = await w.chat();
      await chat.waitForFunction(() => document.hasFocus() && document.activeElement.matches("textarea"));
      await w.page.keyboard.type(`${name} `);
      assert.match(await chat.getByRole("textbox", { name: "Prompt" }).inputValue(), new RegExp(`${name} $`));
      await w.command("View: Show Explorer");
    }
    await w.page.reload();
    await w.status(/Agent/);
  }
}

const OPEN_CHAT = "Alt+Shift+j";
