// Not a test: VS Code's own default keys, as it tells them for one system. Played by scripts/vscode_keys.py.
import { writeFileSync } from "node:fs";

/** The text of "Default Keyboard Shortcuts (JSON)". */
export async function keys(w, place) {
  await w.command("Preferences: Open Default Keyboard Shortcuts (JSON)");
  await w.page.locator(".editor-container .view-line", { hasText: "Override key bindings" }).first().waitFor();
  await w.focused(".editor-container .monaco-editor");
  const isMac = await w.page.evaluate(() => navigator.userAgent.includes("Macintosh"));
  await w.page.evaluate(() => navigator.clipboard.writeText(""));
  await w.press(isMac ? "Meta+a" : "Control+a");
  await w.page.locator(".statusbar-item", { hasText: "selected" }).waitFor();
  await w.press("Control+Insert"); // the browser's own copy
  await w.page.waitForFunction(async () => (await navigator.clipboard.readText()) !== "");
  writeFileSync(`${place}/keys.json`, await w.page.evaluate(() => navigator.clipboard.readText()));
}
