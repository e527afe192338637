// node webview.mjs [ROUNDS]: the longest tasks of the chat's page under much at once, as lines of JSON, for webview.py.
import { answer, deltas, text, transcript } from "../tests/e2e/vscode/loads.mjs";
import { launch } from "../tests/e2e/vscode/page.mjs";
import { chatOf, snapshot } from "../tests/e2e/vscode/states.mjs";

const ROUNDS = Number(process.argv[2] ?? 3);
/** Milliseconds between two messages of the host (`chatView.ts`). */
const BATCH_MS = 16;

const code = (size) => `\`\`\`python\n${text(size).replaceAll("`", "'")}`;

const ROWS = [
  ["a session of 2 MB is opened", () => [transcript(2_000_000)]],
  ["one answer of 2 MB is opened", () => [answer(2_000_000)]],
  ["5,000 deltas, 60 kB", () => deltas(text(60_000), 5_000)],
  ["5,000 deltas behind a session of 2 MB", () => [transcript(2_000_000), ...deltas(text(60_000), 5_000)]],
  ["5,000 deltas of one block of code, 300 kB", () => deltas(code(300_000), 5_000)],
];

const browser = await launch();
for (const [name, messages] of ROWS) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(messages()));
  console.log(JSON.stringify({ name, rounds }));
}
await browser.close();

/** The longest task in milliseconds, by the clock when above 50 and by what it computed; how many were above 50. */
async function measure(messages) {
  const chat = await browser.chat();
  await chat.post(snapshot(chatOf([])));
  await chat.page.evaluate(() => {
    window.messages = [];
  });
  for (let at = 0; at < messages.length; at += 200) {
    await chat.page.evaluate((some) => window.messages.push(...some), messages.slice(at, at + 200));
  }
  const recorded = await record(chat.page);
  const tasks = await chat.page.evaluate(feed, BATCH_MS);
  const computing = await recorded();
  await chat.close();
  return { longest: Math.max(0, ...tasks), over50: tasks.length, computing };
}

/** In the page: everything in its order, until nothing more is drawn. The long tasks. */
async function feed(pause) {
  const found = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "self") found.push(entry.duration);
  });
  await new Promise((done) => setTimeout(done, 500));
  observer.observe({ type: "longtask" });
  for (const message of window.messages) {
    window.postMessage(message);
    await new Promise((done) => setTimeout(done, pause));
  }
  for (let calm = 0, before = -1; calm < 10; ) {
    await new Promise((done) => setTimeout(done, 50));
    const nodes = document.querySelectorAll("*").length;
    calm = nodes === before ? calm + 1 : 0;
    before = nodes;
  }
  return found;
}

/** Chromium's own record of its tasks. What is returned ends it: milliseconds that the longest of the page computed. */
async function record(page) {
  const session = await page.context().newCDPSession(page);
  const tasks = [];
  const pages = new Set();
  session.on("Tracing.dataCollected", ({ value }) => {
    for (const { name, args, pid, tid, tdur = 0 } of value) {
      if (name === "thread_name" && args.name === "CrRendererMain") pages.add(`${pid} ${tid}`);
      if (name === "ThreadControllerImpl::RunTask") tasks.push({ thread: `${pid} ${tid}`, ms: tdur / 1000 });
    }
  });
  const traceConfig = { includedCategories: ["toplevel", "__metadata"], excludedCategories: ["*"] };
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  return async () => {
    const complete = new Promise((done) => session.once("Tracing.tracingComplete", done));
    await session.send("Tracing.end");
    await complete;
    return tasks.filter(({ thread }) => pages.has(thread)).reduce((longest, { ms }) => Math.max(longest, ms), 0);
  };
}
