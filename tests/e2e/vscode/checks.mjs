// node checks.mjs NAME: one check of the chat's page alone (`page.mjs`); exits with 0 when it holds.
import assert from "node:assert/strict";
import { deltas, text, transcript } from "./loads.mjs";
import { launch } from "./page.mjs";
import { chatOf, STATES, snapshot } from "./states.mjs";
import { noSeriousViolation } from "./workbench.mjs";

const THEMES = ["light", "dark", "highContrast", "highContrastLight"];
/** What is looked at in every theme; all else in the first. */
const EVERYWHERE = ["answered", "permission", "diff", "busy"];

const checks = {
  /** No state, in no theme, has what a judge of accessibility calls serious. */
  async accessible(browser) {
    const found = [];
    for (const theme of THEMES) {
      const names = theme === THEMES[0] ? Object.keys(STATES) : EVERYWHERE;
      for (const name of names) {
        const chat = await inState(browser, name, theme);
        await noSeriousViolation(chat.page.mainFrame()).catch(({ actual, message }) =>
          found.push(`${theme} ${name}: ${actual ?? message}`),
        );
        await chat.close();
      }
    }
    assert.deepEqual(found, []);
  },

  /** Of a long session only what is near is made; the rest stands there as plain text. */
  async long(browser) {
    const chat = await browser.chat();
    const message = transcript(2_000_000);
    const total = message.chat.items.length;
    await chat.page.evaluate((all) => {
      window.steps = 0;
      const observer = new MutationObserver(() => {
        window.steps += 1;
      });
      observer.observe(document.getElementById("chat"), { childList: true, subtree: true });
      window.postMessage(all);
    }, message);
    await chat.page.waitForFunction((all) => document.querySelectorAll(".item").length === all, total);
    const steps = await chat.page.evaluate(() => window.steps);
    const [made, far] = await chat.page.evaluate(() => [
      document.querySelectorAll(".markdown p, .markdown span").length,
      document.querySelectorAll(".piece.far").length,
    ]);

    assert.ok(steps > 10, `all came in ${steps} steps`);
    assert.ok(far > 400, `${far} pieces are left as text`);
    assert.ok(made < 40_000, `${made} nodes were made`);
    const last = [...message.chat.items.at(-1).text.matchAll(/## (Part \d+)/g)].at(-1)[1];
    await chat.page.locator(".message h2", { hasText: last }).last().waitFor();
    await chat.page.waitForFunction(() => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".transcript");
      return scrollHeight - scrollTop - clientHeight < 50;
    });
    // Coming near is enough.
    await chat.page.locator(".transcript").evaluate((box) => box.scrollTo(0, box.scrollHeight / 3));
    await chat.page.waitForFunction(() => {
      const { top, bottom } = document.querySelector(".transcript").getBoundingClientRect();
      const inView = [...document.querySelectorAll(".message .piece")].filter((piece) => {
        const box = piece.getBoundingClientRect();
        return box.bottom > top && box.top < bottom;
      });
      return inView.length > 0 && inView.every((piece) => !piece.classList.contains("far"));
    });
  },

  /** While an answer streams only its end is made anew. */
  async streaming(browser) {
    const chat = await browser.chat();
    await chat.post(snapshot(chatOf([])));
    const whole = text(60_000);
    const touched = await chat.page.evaluate(async (messages) => {
      let elsewhere = 0;
      new MutationObserver((records) => {
        const pieces = document.querySelectorAll(".message .piece");
        // The piece that was last before may be completed in the same frame in which the next one begins.
        const near = new Set([...pieces].slice(-3));
        for (const { target } of records) {
          const element = target instanceof Element ? target : target.parentElement;
          const piece = element?.closest(".piece");
          if (piece != null && piece.isConnected && !near.has(piece)) elsewhere += 1;
        }
      }).observe(document.getElementById("chat"), { childList: true, subtree: true, characterData: true });
      for (const message of messages) {
        window.postMessage(message);
        await new Promise((done) => setTimeout(done));
      }
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return elsewhere;
    }, deltas(whole, 5_000));

    assert.equal(touched, 0, "pieces that were complete are made anew");
    const shown = await chat.page.locator(".message pre").allTextContents();
    assert.equal(shown.join("\n").length, [...whole.matchAll(/```python\n([^`]*)\n```/g)].map((match) => match[1]).join("\n").length);
    assert.ok(await chat.page.locator(".message .piece").count() > 20);
  },

  /** By keys alone: complete, choose, remove what was mentioned, answer a question. */
  async keyboard(browser) {
    const chat = await inState(browser, "welcome", "light");
    const { page } = chat;
    const input = page.getByRole("textbox", { name: "Prompt" });
    await input.focus();
    await page.keyboard.type("/mo");
    const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
    assert.equal(await options.count(), 2);
    await page.keyboard.press("ArrowDown");
    const active = await input.getAttribute("aria-activedescendant");
    assert.equal(await page.locator(`#${active}`).getAttribute("aria-selected"), "true");
    await page.keyboard.press("Enter");
    assert.deepEqual((await chat.told()).at(-1), { kind: "command", command: "agent.pickMode" });
    assert.equal(await input.inputValue(), "");

    await page.keyboard.type("see @dat");
    await chat.post({ kind: "completions", query: "dat", found: [{ label: "src/dates.py", detail: "File", insert: "@src/dates.py" }] });
    await page.getByRole("option", { name: "src/dates.py" }).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await input.inputValue(), "see @src/dates.py ");
    await page.keyboard.press("Shift+Tab"); // to what is attached
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Remove src/dates.py");
    await page.keyboard.press("Enter");
    assert.equal((await input.inputValue()).trim(), "see");

    await input.fill("see @terminal"); // all of it: there is nothing to complete, and Enter sends
    await chat.post({ kind: "completions", query: "terminal", found: [{ label: "terminal", detail: "", insert: "@terminal" }] });
    await page.getByRole("option", { name: "terminal" }).waitFor();
    await page.keyboard.press("Enter");
    assert.deepEqual((await chat.told()).at(-1), { kind: "send", text: "see @terminal", how: "prompt", images: [] });
  },

  /** While a turn runs a key says what becomes of words; what waits can be taken back. */
  async saying(browser) {
    const chat = await inState(browser, "busy", "light");
    const input = chat.page.getByRole("textbox", { name: "Prompt" });
    for (const [keys, how] of [["Enter", "prompt"], ["Alt+Enter", "steer"], ["Control+Enter", "redirect"]]) {
      await input.fill(how);
      await input.press(keys);
      assert.deepEqual((await chat.told()).at(-1), { kind: "send", text: how, how, images: [] });
    }
    await input.fill("more");
    await chat.page.getByRole("button", { name: "Steer" }).click();
    assert.equal((await chat.told()).at(-1).how, "steer");
    await chat.page.getByRole("button", { name: "Take back" }).click();
    assert.deepEqual((await chat.told()).at(-1), { kind: "withdraw", waitingId: "p2" });
    await chat.post({ kind: "compose", text: "Then update the README", keep: true });
    await chat.page.waitForFunction(() => document.querySelector("textarea").value === "Then update the README");
    // A picture goes with what steers, too.
    await input.evaluate((area) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([new Uint8Array([137, 80, 78, 71])], "a.png", { type: "image/png" }));
      area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    });
    await chat.page.getByRole("img", { name: "Pasted 1" }).waitFor();
    await input.press("Alt+Enter");
    const { how, images } = (await chat.told()).at(-1);
    assert.deepEqual([how, images.map((image) => image.mimeType)], ["steer", ["image/png"]]);
    await input.press("Escape");
    assert.deepEqual((await chat.told()).at(-1), { kind: "stop" });
  },

  /** What a call said keeps its lines when it is over, and a command that said no looks failed. */
  async output(browser) {
    const chat = await browser.chat();
    const said = "total 2\n  one  * two\n# three\n\n\n1. four";
    const call = { toolCallId: "c1", title: "shell make", kind: "execute", status: "completed" };
    const content = [{ type: "content", content: { type: "text", text: said } }];
    const update = { sessionUpdate: "tool_call", ...call, content, _meta: { "agent-server": { summary: "exit 3" } } };
    await chat.post(snapshot(chatOf([])), {
      kind: "events",
      sessionId: "s1",
      events: [{ kind: "update", update, live: false, at: 0 }],
    });
    const line = chat.page.locator(".tool.failed");
    await line.locator(".codicon-error").waitFor();
    assert.match(await line.innerText(), /exit 3/);
    await line.getByRole("button", { name: /shell/ }).click();
    const shown = line.locator(".tool-output pre");
    await shown.waitFor();
    assert.equal((await shown.innerText()).trimEnd(), said);
    assert.match(await shown.evaluate((pre) => getComputedStyle(pre).whiteSpace), /pre/);
  },

  /** A question that has just come takes no answer: not by keys, not by a click that was on its way, not by a second click. */
  async consent(browser) {
    const chat = await inState(browser, "busy", "light");
    const { page } = chat;
    const answers = async () => (await chat.told()).filter(({ kind }) => kind === "answer" || kind === "tell");
    const asked = (id) => ({
      kind: "events",
      sessionId: "s1",
      events: [{ kind: "asked", id, request: QUESTION }],
    });
    const allow = page.locator(".question:not(.answered)").getByRole("button", { name: "Allow once" });
    const input = page.getByRole("textbox", { name: "Prompt" });
    await input.fill("");
    await input.focus();
    await chat.post(asked("n1"));
    await chat.drawn();
    await page.keyboard.type("yes y\n \n");
    assert.deepEqual(await answers(), []);
    assert.ok(await input.evaluate((area) => document.activeElement === area), "the question took the keyboard");

    const at = await allow.boundingBox();
    await allow.click(); // waits until it takes answers
    assert.deepEqual((await answers()).map(({ id }) => id), ["n1"]);
    await chat.post({ kind: "events", sessionId: "s1", events: [{ kind: "settled", id: "n1", answer: "Allow once" }] }, asked("n2"));
    await chat.drawn();
    const next = await allow.boundingBox();
    await page.mouse.click(next.x + at.width / 2, next.y + at.height / 2, { clickCount: 2 });
    assert.deepEqual((await answers()).map(({ id }) => id), ["n1"], "a second click answered the next question");

    await page.waitForFunction(() => document.querySelector(".question:not(.answered) button.primary:enabled") !== null);
    const { x, y, width, height } = await allow.boundingBox();
    await page.mouse.click(x + width / 2, y + height / 2, { clickCount: 3 });
    await allow.focus();
    await page.locator(".transcript").evaluate((box) => box.scrollTo(0, 0));
    await page.keyboard.press("Enter"); // off screen: brought into view only
    assert.deepEqual((await answers()).map(({ id }) => id), ["n1"]);
    await page.keyboard.press("Enter");
    assert.deepEqual((await answers()).map(({ id }) => id), ["n1", "n2"]);

    // A letter typed on the closed list of modes chooses none.
    await page.getByRole("combobox", { name: "Mode", exact: true }).focus();
    await page.keyboard.press("p");
    await page.keyboard.press("Escape");
    assert.deepEqual((await chat.told()).filter(({ kind }) => kind === "setMode"), []);

    await chat.post(asked("n3"), { kind: "showQuestion", id: "n3" });
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-question") === "n3");
    await page.keyboard.type("y\n \n");
    assert.equal((await answers()).length, 2);
  },
};

/** Long enough that the transcript scrolls. */
const QUESTION = {
  sessionId: "s1",
  toolCall: {
    toolCallId: "c1",
    title: "shell npm publish",
    kind: "execute",
    status: "pending",
    content: [{ type: "content", content: { type: "text", text: `\`\`\`sh\n${"npm publish\n".repeat(60)}\`\`\`` } }],
  },
  options: [
    { optionId: "o1", name: "Allow once", kind: "allow_once" },
    { optionId: "o4", name: "Reject", kind: "reject_once" },
  ],
};

async function inState(browser, name, theme) {
  const chat = await browser.chat(theme);
  const { messages, act } = STATES[name];
  await chat.post(...messages);
  await chat.drawn();
  if (act !== undefined) await act(chat.page);
  await chat.drawn();
  return chat;
}

const browser = await launch();
await checks[process.argv[2]](browser).finally(() => browser.close());
