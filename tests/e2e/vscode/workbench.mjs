// A hand on VS Code's keyboard and mouse: what a person does, by the names that a person sees.
import { createRequire } from "node:module";

const { chromium } = createRequire(`${process.env.LAB}/`)("playwright-core");

/** Milliseconds that anything may take to appear. The machine may be busy. */
const WAIT_MS = 30_000;
const QUICK_INPUT = ".quick-input-widget input:not([type=checkbox])";

export async function withWorkbench(url, use, { theme = "light", width = 1280, height = 800 } = {}) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  try {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: theme,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const workbench = new Workbench(page);
    await workbench.open(url);
    await use(workbench);
  } finally {
    await browser.close();
  }
}

export class Workbench {
  constructor(page) {
    this.page = page;
  }

  async open(url) {
    await this.page.goto(url);
    await this.status(/Agent/);
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
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Answer a box that asks for words. */
  async answer(words) {
    await this.type(words);
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  async type(words) {
    const input = this.page.locator(QUICK_INPUT);
    await input.waitFor();
    await input.fill(words);
  }

  async openFile(name) {
    await this.page.keyboard.press("Control+p");
    await this.type(name);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    await this.tab(name).waitFor();
    await this.focused(".editor-container .monaco-editor");
  }

  tab(name) {
    return this.page.locator(".tab", { hasText: name }).first();
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

  /** Words above a hunk. */
  lens(title) {
    return this.page.locator(".codelens-decoration a", { hasText: title });
  }

  /** Words above a hunk that do nothing. */
  note(text) {
    return this.page.locator(".codelens-decoration", { hasText: text });
  }

  /** Until the keyboard is in such an element. */
  async focused(selector) {
    await this.page.waitForFunction((wanted) => document.activeElement?.closest(wanted) != null, selector);
  }

  async shot(path) {
    await this.page.screenshot({ path });
  }
}
