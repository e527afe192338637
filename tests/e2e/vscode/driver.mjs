// node driver.mjs: acts out stories in real workbenches, one browser for all. Standard input has a line of JSON for each,
// {"story": "file.name", "url": …, "place": …, "screen": {…}}; standard output answers each with {"error": null} or what went wrong.
// Files and processes are judged by the test that asked. What failed leaves place/failed.png and place/page.log.
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { launch } from "./workbench.mjs";

/** Milliseconds that a story may take, on a busy machine. */
const STORY_MS = 1_000 * Number(process.env.AGENT_SERVER_STORY_S ?? 150);

const browser = await launch();
for await (const line of createInterface({ input: process.stdin })) {
  const error = await play(JSON.parse(line));
  process.stdout.write(`${JSON.stringify({ error })}\n`);
}
await browser.close();

async function play({ story, url, place, screen, minutes }) {
  const [file, name] = story.split(".");
  const stories = await import(`./stories/${file}.mjs`);
  const workbench = await browser.workbench(screen);
  try {
    await Promise.race([workbench.open(url).then(() => stories[name](workbench, place)), tooLong(minutes)]);
    return null;
  } catch (error) {
    await workbench.shot(`${place}/failed.png`).catch(() => undefined);
    writeFileSync(`${place}/page.log`, workbench.said.join("\n"));
    const told = await workbench.notifications().catch(() => "");
    return [error.stack ?? String(error), told === "" ? "" : `VS Code told: ${told}`].join("\n\n").trim();
  } finally {
    await workbench.close();
  }
}

async function tooLong(minutes) {
  const most = minutes === null ? STORY_MS : minutes * 60_000;
  await new Promise((resolve) => setTimeout(resolve, most).unref());
  throw new Error(`the story took longer than ${most / 1000} s`);
}
