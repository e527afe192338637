// What happens in a page, as a GIF that repeats. Chromium gives the frames and decodes them; gifenc makes them small: a
// frame has only what is new in it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const lab = createRequire(`${process.env.LAB}/`);
/** Milliseconds; what changes faster is one frame. */
const SHORTEST = 90;
/** Nobody waits longer for something to happen, whatever the machine had to do meanwhile. */
const LONGEST = 700;
/** The whole of it: on a slow machine it is played faster than it was. */
const WHOLE = 18_000;
/** How long the last frame stays. */
const LAST = 3_000;

/** Record what `use` does in `page`. */
export async function record(page, use) {
  const frames = [];
  const session = await page.context().newCDPSession(page);
  session.on("Page.screencastFrame", ({ data, sessionId, metadata }) => {
    frames.push({ data, at: metadata.timestamp * 1000 });
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined); // the page is closed
  });
  await session.send("Page.startScreencast", { format: "png", everyNthFrame: 1 });
  await use();
  await session.send("Page.stopScreencast");
  return encode(page.context(), thinned(frames));
}

/** Frames that are to be seen long enough, with their milliseconds. They may come out of order. */
function thinned(frames) {
  const inOrder = frames.toSorted((one, other) => one.at - other.at);
  const kept = inOrder.filter(({ at }, index) => (inOrder[index + 1]?.at ?? Number.POSITIVE_INFINITY) - at >= SHORTEST);
  const delays = kept.slice(1).map(({ at }, index) => Math.min(at - kept[index].at, LONGEST));
  const pace = Math.min(1, WHOLE / delays.reduce((sum, delay) => sum + delay, 0));
  return kept.map(({ data }, index) => ({ data, delay: index < delays.length ? delays[index] * pace : LAST }));
}

async function encode(context, frames) {
  const page = await context.newPage();
  const gifenc = readFileSync(lab.resolve("gifenc/dist/gifenc.esm.js"), "utf8");
  const [, inner] = /(\w+) as GIFEncoder/.exec(gifenc); // a module gives nothing to other scripts of its page
  await page.addScriptTag({ type: "module", content: `${gifenc}\nwindow.encoder = ${inner}();` });
  await page.waitForFunction("window.encoder !== undefined");
  await page.evaluate(begin);
  for (const { data } of frames) await page.evaluate(count, data);
  await page.evaluate(choose);
  for (const frame of frames) await page.evaluate(add, frame);
  const bytes = await page.evaluate("Array.from((encoder.finish(), encoder.bytes()))");
  await page.close();
  return Buffer.from(bytes);
}

// ---- in the page ---------------------------------------------------------------------------------

function begin() {
  window.counts = new Map();
  window.read = async (data) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    const { width, height, data: bytes } = canvas.getImageData(0, 0, picture.width, picture.height);
    return { width, height, pixels: new Uint32Array(bytes.buffer) };
  };
}

async function count(data) {
  for (const pixel of (await window.read(data)).pixels) window.counts.set(pixel, (window.counts.get(pixel) ?? 0) + 1);
}

/** One palette for all frames, of the colours that are seen most, as they are: a colour never changes in between. */
function choose() {
  const colours = [...window.counts].sort((one, other) => other[1] - one[1]).map(([pixel]) => pixel);
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  const palette = colours.slice(0, 255).map(parts);
  const distance = (one, other) => one.reduce((sum, part, at) => sum + (part - other[at]) ** 2, 0);
  const nearest = (colour) => {
    const far = palette.map((other) => distance(colour, other));
    return far.indexOf(Math.min(...far));
  };
  window.indexes = new Map(colours.map((pixel, at) => [pixel, at < 255 ? at : nearest(parts(pixel))]));
  while (palette.length < 256) palette.push([0, 0, 0]); // the last stands for what is as before
  window.palette = palette;
}

async function add({ data, delay }) {
  const { width, height, pixels } = await window.read(data);
  const { before, indexes, palette, encoder } = window;
  const index = Uint8Array.from(pixels, (pixel, at) => (before?.[at] === pixel ? 255 : indexes.get(pixel)));
  const rest = before === undefined ? { palette } : { transparent: true, transparentIndex: 255 };
  encoder.writeFrame(index, width, height, { delay, dispose: 1, ...rest });
  window.before = pixels;
}
