// Reviewing: by mouse and by keys, in one file and several, now and at the end of the turn, in peace and in conflict.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { noSeriousViolation } from "../workbench.mjs";

const PROPOSED = "Proposed changes";

/** From the palette: stream, tool calls, a diff judged hunk by hunk, a command asked about. */
export async function review(w) {
  await w.openFile("dates.py");
  const chat = await w.ask("Make parse_date accept ISO weeks");
  await chat.locator(".user", { hasText: "Make parse_date accept ISO weeks" }).waitFor();
  await chat.locator(".tool.completed", { hasText: "search" }).waitFor();
  await w.tab("dates.py (proposed)").waitFor();
  await w.status(/edit to review/);
  await w.tab("dates.py").locator(".monaco-icon-label[class*=decoration]").waitFor(); // marked
  await w.lens("Accept").first().click();
  await w.note("Accepted · 1 of 4").waitFor();
  await w.right.locator(".cgmr").nth(1).waitFor(); // the gutter's marks
  await w.gutter("format_date", "Reject hunk"); // the fourth
  await w.lens("4 of 4").waitFor({ state: "detached" });
  await chat.locator(".review-bar", { hasText: "2 edits in 1 file" }).waitFor();
  await chat.getByRole("button", { name: "Accept all" }).click();
  await w.tab("dates.py (proposed)").waitFor({ state: "detached" });
  await w.save("dates.py"); // an accepted edit of an open file is the user's to save
  await chat.locator(".question code", { hasText: "print(dates" }).waitFor();
  await noSeriousViolation(chat);
  await chat.getByRole("button", { name: "Allow once" }).click();
  await chat.locator(".end").waitFor();
  await chat.locator(".message", { hasText: "ISO weeks" }).last().waitFor();
  await noSeriousViolation(chat);
}

/** From a selection, without a mouse: a file that is not open, a whole review by keys, begun in the tree. */
export async function keys(w) {
  await w.openFile("other.py");
  await w.press("Control+a");
  await w.page.locator(".statusbar-item", { hasText: "selected" }).waitFor();
  await w.press("Alt+Shift+k");
  await w.answer("Make parse_date accept ISO weeks");
  await w.status(/edit to review/);
  await (await w.chat()).locator(".attached", { hasText: "other.py" }).waitFor();
  await w.command(`Focus on ${PROPOSED} View`);
  await w.row("dates.py").waitFor();
  await w.press("ArrowDown", "Enter");
  await w.lens("1 of 4").waitFor();
  await w.focused(".monaco-diff-editor");
  await w.press("Alt+n");
  await w.lens("1 of 4").waitFor({ state: "detached" });
  await w.press("Alt+j", "Alt+y");
  await w.note("Accepted").waitFor();
  await w.press("Alt+Shift+y");
  await w.tab("dates.py (proposed)").waitFor({ state: "detached" });
  await w.row("dates.py").getByText("applied").waitFor();
  await w.focused(".monaco-editor"); // back where the person was
}

/** Five files in two roots and outside: changed and saved first, created, not deleted with a reason, large, renamed. */
export async function several(w) {
  await w.ask("Change them all");
  await w.tab("a.py (proposed)").waitFor();
  await w.command(`Focus on ${PROPOSED} View`);
  await w.row("a.py").getByText("+1 −1 · 1 of 1 waiting · one").waitFor();
  await w.row("b.py").getByText("+1 −0 · new · waiting · two").waitFor();
  await w.row("c.py").waitFor();
  await w.tab("a.py (proposed)").click();
  await w.right.locator(".view-line", { hasText: "proposed" }).click();
  await w.press("Control+End");
  await w.page.keyboard.type("mine = 1\n");
  await w.lens("Accept with your changes").waitFor();
  await w.row("a.py").getByText("changed by you").waitFor();
  await w.press("Alt+Shift+y");
  await w.inDiff("b.py (proposed, new)", "b = 1");
  await w.press("Alt+Shift+y");
  await w.page.locator(".tab.active", { hasText: "c.py (to be deleted)" }).waitFor();
  await w.command("Agent: Reject file, and say why…");
  await w.answer("others use it");
  await w.inDiff("big.txt (proposed)", "FIRST");
  await w.press("Alt+Shift+y");
  await w.inDiff("old.py → new.py (proposed)", "n = 1");
  await w.press("Alt+Shift+y");
  await w.tab("c.py").waitFor({ state: "detached" });
  await w.command("Agent: Open chat");
  await (await w.chat()).locator(".message", { hasText: "Done" }).waitFor();
}

/**
 * One single change of the right side each, another in each file, and accepted in another way each: what stands there
 * is what is written. Closing asks nothing, and what was typed is there again.
 */
export async function exact(w) {
  const chat = await w.ask("Change them all");
  const at = async (name) => {
    await w.tab(`${name} (proposed)`).click();
    await w.inDiff(`${name} (proposed)`, "ONE");
    await w.right.locator(".view-line", { hasText: "ONE" }).click();
    await w.press("Home");
  };
  const letter = async () => {
    await w.page.keyboard.type("x");
    await w.right.locator(".view-line", { hasText: "xONE" }).waitFor();
  };

  await at("1.txt");
  await w.press("Control+Shift+k"); // the line ONE
  await w.lens("Accept with your changes").click();

  await at("2.txt");
  await w.page.locator(".monaco-diff-editor .gutterItem [aria-label*=Revert]").first().click();
  await w.right.locator(".view-line", { hasText: "one" }).waitFor();
  await w.right.locator(".view-line", { hasText: "FIVE" }).click();
  await w.press("Alt+Shift+y");

  await at("3.txt");
  await letter();
  await chat.getByRole("button", { name: "Accept all" }).click();

  await at("4.txt"); // hunk by hunk: the first with a letter, the second not at all
  await letter();
  await w.press("Alt+y");
  await w.note("Accepted · 1 of 2").waitFor();
  await w.press("Alt+n");

  await at("5.txt");
  await letter();
  await w.command(`Focus on ${PROPOSED} View`);
  await w.row("5.txt").hover();
  await w.row("5.txt").getByRole("button", { name: /^Accept file/ }).click();

  await at("6.txt");
  await letter();
  await w.page.locator(".tab.dirty").waitFor({ state: "detached" });
  await w.press("Control+w");
  await w.tab("6.txt (proposed)").waitFor({ state: "detached" });
  assert.equal(await w.page.locator(".monaco-dialog-box").count(), 0);
  await w.press("Alt+Shift+r");
  await w.inDiff("6.txt (proposed)", "xONE");
  await w.command("Agent: Accept all proposed edits");
  await w.tab("6.txt (proposed)").waitFor({ state: "detached" });

  await w.command("Agent: Open chat");
  await (await w.chat()).locator(".message", { hasText: "Done" }).waitFor();
  assert.equal(await w.page.locator(".monaco-dialog-box").count(), 0);
  assert.equal(await w.page.locator(".tab.dirty").count(), 0);
}

async function openNotebook(w, name) {
  await w.press("Control+p");
  await w.type(name);
  await w.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().waitFor();
  await w.press("Enter");
  await w.page.locator(".notebookOverlay .monaco-list-row").first().waitFor({ state: "attached" });
}

/** A notebook is not changed beneath its editor: not proposed while it is open, not written when it was opened since. */
export async function notebook(w) {
  await openNotebook(w, "x.ipynb");
  const chat = await w.ask("Change the notebook");
  await chat.locator(".message", { hasText: "It is open" }).waitFor();
  await w.tab("x.ipynb").click();
  await w.press("Control+w");
  await w.tab("x.ipynb").waitFor({ state: "detached" });
  await w.ask("Now that it is closed");
  await w.tab("x.ipynb (proposed)").waitFor();
  await openNotebook(w, "x.ipynb");
  await w.tab("x.ipynb (proposed)").click();
  await w.command("Agent: Accept all proposed edits");
  await w.command("Agent: Open chat");
  await (await w.chat()).locator(".message", { hasText: "It was opened" }).waitFor();
}

/** Edits of a turn are listed as they are made and asked about when it ends; begun by a quick fix. */
export async function staged(w, place) {
  await w.openFile("broken.json");
  await w.page.locator(".squiggly-error").first().waitFor();
  await w.press("F8", "Escape", "Control+.");
  await w.page.locator(".action-widget", { hasText: "Fix with the agent" }).waitFor();
  await w.page.locator(".action-widget .monaco-list-row", { hasText: "Fix with the agent" }).first().click();
  const chat = await w.chat();
  await chat.locator(".user", { hasText: "Fix this problem in @broken.json" }).waitFor();
  await w.command(`Focus on ${PROPOSED} View`);
  await w.row("broken.json").getByText("staged").waitFor();
  assert.equal(await w.tab("broken.json (proposed)").count(), 0);
  await w.row("broken.json").getByText("waiting").waitFor();
  await w.row("staged").waitFor({ state: "detached" });
  await w.command("Agent: Review the proposed edits");
  await w.tab("broken.json (proposed)").waitFor();
  await w.command("Agent: Accept all, and choose how far that goes…");
  await w.pick("This time only");
  await w.row("broken.json").getByText("applied").waitFor();
  assert.equal(await w.tab("broken.json (proposed)").count(), 0);
  await w.tab("broken.json").click();
  await w.press("Control+s"); // an edit of an open file is not saved for the person
  await w.until(() => readFileSync(`${place}/workspace/broken.json`, "utf8").includes("1,"));
}

/** The file changes under the proposal: what still fits is not forced, the merge editor shows all three. */
export async function conflict(w, place) {
  await w.openFile("dates.py");
  await w.ask("Make parse_date accept ISO weeks");
  await w.tab("dates.py (proposed)").waitFor();
  await w.tab("dates.py").click();
  await w.page.locator(".view-line", { hasText: "datetime" }).first().click();
  await w.press("End");
  await w.page.keyboard.type(", time");
  await w.command("Agent: Accept all proposed edits");
  await w.toast("was not applied").getByText("Merge").click();
  await w.page.locator(".merge-editor").waitFor();
  await w.command("File: Save All Files");
  await w.until(() => readFileSync(`${place}/workspace/dates.py`, "utf8").includes(", time"));
}

/** Back: a checkpoint previewed, restored, and that undone; then an edit is taken back: a hunk of it in its diff, the rest in the chat. */
export async function back(w, place) {
  const text = () => readFileSync(`${place}/workspace/dates.py`, "utf8");
  const chat = await w.ask("Make parse_date accept ISO weeks");
  await w.tab("dates.py (proposed)").waitFor();
  await w.command("Agent: Accept all, and choose how far that goes…");
  await w.pick("In this session");
  await chat.locator(".message", { hasText: "Done" }).waitFor();
  const edited = text();

  await w.command("Agent: Go back to a checkpoint…");
  await w.pick("Make parse_date");
  await w.page.locator(".multiDiffEntry, .multi-diff-root-floating-element").first().waitFor();
  await w.pick("Restore the files");
  await w.toast("The files are as they were").waitFor();
  assert.notEqual(text(), edited);
  await w.toast("The files are as they were").getByText("Undo").click();
  await w.until(() => text() === edited);

  await w.command("Agent: Show the changes of the last edit");
  await w.lens("Undo").first().click();
  await w.until(() => text() === edited.replace("import re\n", ""));

  await chat.locator(".tool", { hasText: "edit" }).getByRole("button", { name: "Take back this edit" }).click();
  await w.until(() => !text().includes("ISO_WEEK"));
}

/** A yes to all takes what was shown, of the workspace: an edit outside says where it is, and is accepted by itself. */
export async function outside(w) {
  const chat = await w.ask("Change both");
  await w.tab("a.py (proposed)").waitFor();
  await w.lens("1 of 1").waitFor();
  await chat.locator(".review-bar .outside", { hasText: /outside the workspace: .*hosts/ }).waitFor();
  await chat.getByRole("button", { name: "Accept all" }).click();
  await w.toast("Not accepted: hosts").waitFor();
  await w.page.locator(".tab.active", { hasText: "hosts (proposed) · outside the workspace" }).waitFor();
  await chat.locator(".review-bar", { hasText: "1 edit in 1 file" }).waitFor();
  await w.lens("Accept").first().click();
  await chat.locator(".message", { hasText: "Done" }).waitFor();
  await w.command("Focus on Proposed changes View");
  await w.row("hosts").getByText("outside the workspace").waitFor();
}
