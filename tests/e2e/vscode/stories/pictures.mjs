// Not tests: what the README shows. Played by scripts/capture_vscode.py.
import { writeFileSync } from "node:fs";
import { record } from "../recording.mjs";

const ASK = "Make parse_date accept ISO weeks such as 2026-W49-1";

/** An edit that waits, in one theme: one hunk accepted. */
export async function review(w, place) {
  await begin(w);
  await w.lens("Accept").first().click();
  await w.note("Accepted · 1 of 4").waitFor();
  await rest(w);
  await w.shot(`${place}/picture.png`);
}

/** A command that waits for permission. */
export async function permission(w, place) {
  const chat = await begin(w);
  await w.command("Agent: Accept all proposed edits");
  await chat.locator(".question code").waitFor();
  await rest(w);
  await w.shot(`${place}/picture.png`);
}

/** From the prompt to the end: one hunk accepted, one rejected, the rest of the file accepted. */
export async function tour(w, place) {
  await w.openFile("dates.py");
  await w.command("Agent: Open chat");
  const chat = await w.chat();
  await rest(w);
  const gif = await record(w.page, async () => {
    await w.page.waitForTimeout(800);
    const prompt = chat.getByRole("textbox", { name: "Prompt" });
    await prompt.pressSequentially(ASK, { delay: 35 });
    await w.page.waitForTimeout(400);
    await w.press("Enter");
    await w.lens("1 of 4").waitFor();
    await w.page.waitForTimeout(1_800);
    await w.press("Alt+Shift+r");
    await w.focused(".monaco-diff-editor");
    await w.press("Alt+y");
    await w.note("Accepted · 1 of 4").waitFor();
    await w.page.waitForTimeout(1_200);
    for (let at = 0; at < 2; at++) {
      await w.press("Alt+j");
      await w.page.waitForTimeout(500);
    }
    await w.press("Alt+j", "Alt+n");
    await w.lens("4 of 4").waitFor({ state: "detached" });
    await w.page.waitForTimeout(1_200);
    await w.press("Alt+Shift+y");
    await w.tab("dates.py (proposed)").waitFor({ state: "detached" });
    await chat.locator(".end").waitFor();
    await w.page.waitForTimeout(600);
  });
  writeFileSync(`${place}/tour.gif`, gif);
}

async function begin(w) {
  await w.openFile("dates.py");
  const chat = await w.ask(ASK);
  await w.lens("4 of 4").waitFor();
  return chat;
}

/** No pointer over anything, no toast, and the page as it stays. */
async function rest(w) {
  await w.page.mouse.move(2, 795);
  await w.page.waitForTimeout(1_500);
}
