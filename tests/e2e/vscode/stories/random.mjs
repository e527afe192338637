// Keys that mean nothing, while questions come: nothing is allowed by them, and no letter is lost.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** How many questions come, and how many keys are typed around each. */
const QUESTIONS = Number(process.env.AGENT_SERVER_QUESTIONS ?? 3);
const KEYS = Number(process.env.AGENT_SERVER_KEYS ?? 50);
/** What people type, and what answers questions elsewhere. */
const LETTERS = "abcdefghijklmnopqrstuvwxyzYNA0123456789".split("");
const OTHERS = ["Enter", "Space"];

/** The same keys for the same seed (mulberry32). */
function keysOf(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const one = (of) => of[Math.floor(next() * of.length)];
  return (count) => Array.from({ length: count }, () => one(next() < 0.8 ? LETTERS : OTHERS));
}

const prompt = (chat) => chat.getByRole("textbox", { name: "Prompt" });
const onlyLetters = (text) => text.replaceAll(/\s/g, "");

/** In turn: in an editor with the chat hidden, in the input of the chat that asks, in another session's chat. */
export async function keys(w, place) {
  const next = keysOf(20261201);
  const typed = { editor: "", asking: "", other: "" };
  await w.openFile("notes.txt");
  let chat = await w.ask("Hello");
  await chat.locator(".message", { hasText: "Ready" }).waitFor();
  await prompt(chat).fill("Begin");
  await prompt(chat).press("Enter");
  for (let asked = 1; asked <= QUESTIONS; asked += 1) {
    const where = ["editor", "asking", "other"][asked % 3];
    await places[where](w);
    for (const key of next(KEYS)) {
      await w.press(key);
      if (key.length === 1) typed[where] += key;
    }
    await w.status(/waiting for you|edit to review/);
    assert.equal(await w.page.locator(".monaco-dialog-box, .quick-input-widget:visible").count(), 0);
    await kept[where](w, place, typed[where]);
    await refuse(w, asked);
  }
}

const places = {
  editor: async (w) => {
    await w.command("View: Show Explorer");
    await w.tab("notes.txt").click();
    await w.focused(".editor-container .monaco-editor");
    await w.press("Control+End");
  },
  asking: (w) => inSession(w, "Hello"),
  other: (w) => inSession(w, "Elsewhere"),
};

/** The keyboard in the input of a session by its first prompt: the first one, or another that is made when it is not there. */
async function inSession(w, words) {
  await w.command("Agent: Open chat");
  let chat = await w.chat();
  await chat.locator(".user, .welcome").first().waitFor();
  if ((await chat.locator(".user", { hasText: words }).count()) === 0) {
    if (words === "Elsewhere" && !w.hasOther) await begin(w, chat, words);
    else {
      await chat.getByRole("button", { name: "Sessions" }).click();
      const row = chat.getByRole("navigation", { name: "Sessions" }).locator("li:not(.current)", { hasText: words });
      await row.getByRole("button").first().click();
    }
  }
  chat = await w.chat();
  await chat.locator(".user", { hasText: words }).first().waitFor();
  await prompt(chat).click();
}

async function begin(w, chat, words) {
  w.hasOther = true;
  await chat.getByRole("button", { name: "New session", exact: true }).click();
  await chat.locator(".welcome").waitFor();
  await prompt(chat).fill(words);
  await prompt(chat).press("Enter");
  await chat.locator(".message", { hasText: "Ready" }).waitFor();
}

const kept = {
  editor: async (w, place, typed) => {
    await w.press("Control+s");
    await w.until(() => onlyLetters(readFileSync(`${place}/workspace/notes.txt`, "utf8")) === typed);
  },
  asking: (w, _, typed) => inChat(w, typed, "HelloBegin"),
  other: (w, _, typed) => inChat(w, typed, "Elsewhere"),
};

/** What was said, what waits and what is not sent yet, in their order, is what was typed. */
async function inChat(w, typed, before) {
  const chat = await w.chat();
  const said = async () => {
    const texts = await chat.locator(".user-text").allTextContents();
    return onlyLetters([...texts, await prompt(chat).inputValue()].join(""));
  };
  const has = before + typed;
  for (let tries = 100; (await said()) !== has && tries > 0; tries -= 1) await w.page.waitForTimeout(50);
  assert.equal(await said(), has);
}

/** On its card, or in its diff: the only places that answer. */
async function refuse(w, asked) {
  await inSession(w, "Hello");
  const chat = await w.chat();
  const card = chat.locator(".question:not(.answered)");
  const bar = chat.locator(".review-bar");
  await card.or(bar).first().waitFor();
  if ((await card.count()) > 0) {
    const id = await card.first().getAttribute("data-question");
    await card.first().getByRole("button", { name: /^(No|Reject)$/ }).click();
    await chat.locator(`[data-question="${id}"]`).waitFor({ state: "detached" });
  } else {
    await bar.getByRole("button", { name: "Reject all" }).click();
    await bar.waitFor({ state: "detached" });
  }
  if (asked === QUESTIONS) await w.press("Escape");
}
