// The chat: what it shows, and what it survives.
import assert from "node:assert/strict";

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

/** A question while the chat is hidden is a dialog; closing that decides nothing. Reload brings the session back. */
export async function hidden(w) {
  await w.command("Agent: Open chat");
  await (await w.chat()).getByRole("textbox", { name: "Prompt" }).fill("Run it");
  await w.press("Enter");
  await w.command("View: Show Explorer");
  const dialog = w.page.locator(".monaco-dialog-box", { hasText: "echo asked" });
  await dialog.waitFor();
  await w.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await w.status(/waiting for you/);
  await w.command("Agent: Open chat");
  const chat = await w.chat();
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
