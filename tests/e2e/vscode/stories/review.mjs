// Reviewing: by mouse and by keys.
import { noSeriousViolation } from "../workbench.mjs";

/** From the palette: stream, tool calls, a diff judged hunk by hunk, a command asked about. */
export async function review(w) {
  await w.openFile("dates.py");
  const chat = await w.ask("Make parse_date accept ISO weeks");
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
}

/** From a selection, without a mouse: a file that is not open, a whole review by keys. */
export async function keys(w) {
  await w.openFile("other.py");
  await w.press("Control+a");
  await w.page.locator(".statusbar-item", { hasText: "selected" }).waitFor();
  await w.press("Control+Alt+k");
  await w.answer("Make parse_date accept ISO weeks");
  await w.tab("dates.py (proposed)").waitFor();
  const chat = await w.chat();
  await chat.locator(".attached", { hasText: "other.py" }).waitFor();
  await w.lens("1 of 4").waitFor();
  await w.press("Control+Alt+r");
  await w.focused(".monaco-diff-editor");
  await w.press("Alt+n");
  await w.lens("1 of 4").waitFor({ state: "detached" });
  await w.press("Alt+j", "Alt+y");
  await w.note("Accepted").waitFor();
  await w.press("Alt+Shift+y");
  await w.tab("dates.py (proposed)").waitFor({ state: "detached" });
  await chat.locator(".tool.completed", { hasText: "edit" }).waitFor();
  await w.focused(".monaco-editor"); // back where the person was
}
