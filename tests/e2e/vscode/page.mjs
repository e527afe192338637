// The chat's page alone, without VS Code around it: the built files (in the folder DIST) under a theme's colours, and a hand on both ends of
// its wire. What takes the workbench seconds to start is here in tenths: every state of the page can be looked at.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { chromium } = createRequire(`${process.env.LAB}/`)("playwright-core");

const ORIGIN = "http://chat.invalid/";
const TYPES = { css: "text/css", html: "text/html", js: "text/javascript", ttf: "font/ttf" };
/** By VS Code itself; `themes.json` has the colours as it gave them to the page, those that the stylesheet names. */
const THEMES = JSON.parse(readFileSync(new URL("themes.json", import.meta.url), "utf8"));

const HOST = `
  const state = { value: undefined };
  window.told = [];
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => window.told.push(message),
    getState: () => state.value,
    setState: (value) => { state.value = value; },
  });`;

/** A browser for pages of the chat. */
export async function launch() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  return { chat: (theme = "light", size = {}) => open(browser, theme, size), close: () => browser.close() };
}

async function open(browser, theme, { width = 360, height = 760 }) {
  const { variables, kind } = THEMES[theme];
  const page = await browser.newPage({ viewport: { width, height } });
  await page.route(`${ORIGIN}**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    if (name === "") return route.fulfill({ contentType: TYPES.html, body: html(variables, kind) });
    route.fulfill({ contentType: TYPES[name.split(".").at(-1)], body: readFileSync(join(process.env.DIST, name)) });
  });
  await page.goto(ORIGIN);
  return new ChatPage(page);
}

function html(variables, kind) {
  const style = Object.entries(variables)
    .map(([name, value]) => `${name}: ${value};`)
    .join(" ");
  return `<!DOCTYPE html><html lang="en" style='${style.replaceAll("'", '"')}'><head><meta charset="UTF-8"><title>Agent</title>
    <style>body { margin: 0; background: var(--vscode-sideBar-background) }</style>
    <link rel="stylesheet" href="codicon.css"><link rel="stylesheet" href="chat.css"></head>
    <body class="${kind}"><div id="chat"></div><script>${HOST}</script><script src="chat.js"></script></body></html>`;
}

class ChatPage {
  constructor(page) {
    this.page = page;
  }

  /** Messages of the host, in order, each a task of its own as they are in VS Code. */
  async post(...messages) {
    await this.page.evaluate(async (all) => {
      for (const message of all) {
        window.postMessage(message);
        await new Promise((done) => setTimeout(done));
      }
    }, messages);
  }

  /** What the page has told its host. */
  told() {
    return this.page.evaluate(() => window.told);
  }

  /** Until the browser has drawn what was posted. */
  async drawn() {
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  close() {
    return this.page.close();
  }
}
