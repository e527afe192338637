// A hand on VS Code's keyboard and mouse: what a person does, by the names that a person sees.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const lab = createRequire(`${process.env.LAB}/`);
const { chromium } = lab("playwright-core");

/** Milliseconds that anything may take to appear. The machine may be busy. */
const WAIT_MS = 60_000;
const QUICK_INPUT = ".quick-input-widget input:not([type=checkbox])";
const ROW = ".quick-input-list .monaco-list-row";

/** A browser that opens workbenches, each as if nobody had used VS Code before. */
export async function launch() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  return {
    workbench: async ({ width = 1280, height = 800, ...more } = {}) => {
      const context = await browser.newContext({
        viewport: { width, height },
        permissions: ["clipboard-read", "clipboard-write"],
        ...more,
      });
      return new Workbench(await context.newPage());
    },
    close: () => browser.close(),
  };
}

export class Workbench {
  /** What the page's console has. */
  said = [];

  constructor(page) {
    this.page = page;
    page.setDefaultTimeout(WAIT_MS);
    page.on("console", (message) => this.said.push(`[${message.type()}] ${message.text()}`));
    page.on("pageerror", (error) => this.said.push(`[uncaught] ${error.stack ?? error}`));
  }

  async open(url) {
    await this.page.goto(url);
    await this.status(/Agent/);
    // On a busy machine VS Code may have read its workspace file before it could: then there are no folders, for good.
    const row = this.page.locator(".explorer-folders-view .monaco-list-row").first();
    const hasFolders = () => row.waitFor({ timeout: WAIT_MS / 3 }).then(() => true, () => false);
    if (new URL(url).searchParams.has("workspace") && !(await hasFolders())) {
      await this.page.reload();
      await this.status(/Agent/);
      await row.waitFor();
    }
  }

  close() {
    return this.page.context().close();
  }

  /** The text of a status bar item, once there is one. */
  async status(pattern) {
    const item = this.page.locator(".statusbar-item", { hasText: pattern }).first();
    await item.waitFor();
    return (await item.innerText()).trim();
  }

  /**
   * Run a command from the palette. The palette knows what was possible when it opened, and goes when something that
   * is still opening takes the keyboard: then it is opened anew.
   */
  async command(title) {
    const soon = { timeout: WAIT_MS / 10 };
    const offered = async () => {
      await this.page.keyboard.press("F1");
      await this.page.locator(QUICK_INPUT).fill(`>${title}`, soon);
      await this.page.locator(`${ROW}.focused`, { hasText: title }).first().waitFor(soon);
      return true;
    };
    for (let tries = 10; !(await offered().catch(() => false)); tries -= 1) {
      if (tries === 0) throw new Error(`the palette does not offer "${title}"`);
      await this.page.keyboard.press("Escape");
    }
    await this.page.keyboard.press("Enter");
  }

  /** Answer a box that asks for words. */
  async answer(words) {
    await this.asked();
    await this.type(words);
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Pick one of a list: the first that has those words. */
  async pick(words) {
    await this.asked();
    await this.type(words);
    await this.page.locator(ROW, { hasText: words }).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Until a box asks that is not the palette, which is on its way out. */
  async asked() {
    const isOther = (wanted) => {
      const input = document.querySelector(wanted);
      return input !== null && input.checkVisibility() && !input.value.startsWith(">");
    };
    await this.page.waitForFunction(isOther, QUICK_INPUT);
  }

  async type(words) {
    const input = this.page.locator(QUICK_INPUT);
    await input.waitFor();
    await input.fill(words);
  }

  async openFile(name) {
    await this.page.keyboard.press("Control+p");
    await this.type(name);
    await this.page.locator(ROW, { hasText: name }).first().waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    await this.tab(name).waitFor();
    await this.focused(".editor-container .monaco-editor");
  }

  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  tab(name) {
    return this.page.locator(".tab", { hasText: name }).first();
  }

  /** Save a file that is open and has changes. */
  async save(name) {
    const dirty = this.page.locator(".tab.dirty", { hasText: name });
    await dirty.first().click();
    await this.page.keyboard.press("Control+s");
    await dirty.waitFor({ state: "detached" });
  }

  toast(words) {
    return this.page.locator(".notification-toast", { hasText: words });
  }

  /** A row of "Proposed changes". */
  row(words) {
    return this.page
      .locator(".pane", { hasText: "Proposed changes" })
      .locator(".monaco-list-row", { hasText: words })
      .first();
  }

  /** From the menu of a line's number, in the diff in front. */
  async gutter(line, title) {
    const { y, height } = await this.right.locator(".view-line", { hasText: line }).first().boundingBox();
    const { x, width } = await this.right.locator(".line-numbers").first().boundingBox();
    await this.page.mouse.click(x + width / 2, y + height / 2, { button: "right" });
    await this.page.locator(".context-view .action-menu-item, .shadow-root-host").first().waitFor();
    await this.page.getByRole("menuitem", { name: title }).click();
  }

  /** Until something outside of the page is so. */
  async until(holds) {
    for (const end = Date.now() + WAIT_MS; !holds(); ) {
      if (Date.now() > end) throw new Error(`not so after ${WAIT_MS / 1000} s: ${holds}`);
      await this.page.waitForTimeout(50);
    }
  }

  /** The chat's page, inside its two frames. */
  async chat() {
    for (const end = Date.now() + WAIT_MS; ; ) {
      if (Date.now() > end) throw new Error(`there is no chat after ${WAIT_MS / 1000} s`);
      for (const frame of this.page.frames()) {
        if (
          frame !== this.page.mainFrame() &&
          (await frame
            .locator("#chat > .app")
            .count()
            .catch(() => 0))
        )
          return frame;
      }
      await this.page.waitForTimeout(50);
    }
  }

  /** Prompt from the palette, and return the chat. */
  async ask(words) {
    await this.command("Agent: Ask…");
    await this.answer(words);
    return this.chat();
  }

  /** Words above a hunk. */
  lens(title) {
    return this.page.locator(".codelens-decoration a", { hasText: title });
  }

  /** Words above a hunk that do nothing. */
  note(text) {
    return this.page.locator(".codelens-decoration", { hasText: text });
  }

  /** The editable side of the diff in front. */
  get right() {
    return this.page.locator(".monaco-diff-editor .editor.modified");
  }

  /** Until the keyboard is in the right side of that diff, and the extension knows: it has put its words there. */
  async inDiff(title, text) {
    await this.page.locator(".tab.active", { hasText: title }).waitFor();
    await this.right.locator(".view-line", { hasText: text.replaceAll(" ", "\u00a0") }).first().waitFor();
    await this.lens(/^\d+ of \d+$/).first().waitFor();
    await this.focused(".monaco-diff-editor .editor.modified");
  }

  /** Until the keyboard is in such an element. */
  async focused(selector) {
    await this.page.waitForFunction((wanted) => document.activeElement?.closest(wanted) != null, selector);
  }

  /** All that VS Code has told and nobody has closed. */
  async notifications() {
    await this.page.locator("[id='status.notifications']").click({ timeout: 1_000 });
    return this.page.locator(".notifications-center").innerText({ timeout: 1_000 });
  }

  async shot(path) {
    await this.page.screenshot({ path });
  }
}

/** Nothing in the chat that a judge of accessibility calls serious. */
export async function noSeriousViolation(frame) {
  await frame.evaluate(readFileSync(lab.resolve("axe-core/axe.min.js"), "utf8"));
  const { violations } = await frame.evaluate("axe.run('#chat')");
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} (${node.failureSummary})`).join("; ")}`);
  assert.deepEqual(serious, []);
}
