// A hand on VS Code's keyboard and mouse: what a person does, by the names that a person sees.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const lab = createRequire(`${process.env.LAB}/`);
const { chromium } = lab("playwright-core");

/** Milliseconds that anything may take to appear. The machine may be busy. */
const WAIT_MS = 30_000;
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

  /** Run a command from the palette. */
  async command(title) {
    await this.page.keyboard.press("F1");
    await this.type(`>${title}`);
    await this.page.locator(ROW, { hasText: title }).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Answer a box that asks for words. */
  async answer(words) {
    await this.type(words);
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Pick one of a list: the first that has those words. */
  async pick(words) {
    await this.type(words);
    await this.page.locator(ROW, { hasText: words }).first().waitFor();
    await this.page.keyboard.press("Enter");
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

  toast(words) {
    return this.page.locator(".notification-toast", { hasText: words });
  }

  /** A row of the tree of that view. */
  row(view, words) {
    return this.page.locator(`.pane:has([aria-label^="${view}"]) .monaco-list-row`, { hasText: words }).first();
  }

  /** The chat's page, inside its two frames. */
  async chat() {
    for (;;) {
      for (const frame of this.page.frames()) {
        if (frame !== this.page.mainFrame() && (await frame.locator("#chat > .app").count().catch(() => 0))) return frame;
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

  /** Until the keyboard is in such an element. */
  async focused(selector) {
    await this.page.waitForFunction((wanted) => document.activeElement?.closest(wanted) != null, selector);
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
