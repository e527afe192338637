/** Lines of one text found again in another: what an edit of the right side leaves of a hunk's place. Pure. */

import { splitLines } from "./hunks";

/** Changed lines up to which the shortest difference is looked for; beyond it what differs is one block. */
const MOST_CHANGES = 1_000;

/** Equal but for line ends, which VS Code makes all alike. */
export function sameText(one: string, other: string): boolean {
  return one === other || plain(one) === plain(other);
}

function plain(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** For each line of `before` its number in `after`, rising; -1 for one that is not there. Line ends do not count. */
export function matchLines(before: readonly string[], after: readonly string[]): number[] {
  const old = before.map(bare);
  const now = after.map(bare);
  const found = new Array<number>(old.length).fill(-1);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) found[head] = head++;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) {
    found[old.length - 1 - tail] = now.length - 1 - tail;
    tail += 1;
  }
  for (const [at, to] of common(old.slice(head, old.length - tail), now.slice(head, now.length - tail))) {
    found[head + at] = head + to;
  }
  return found;
}

function bare(line: string): string {
  return line.replace(/[\r\n]+$/, "");
}

/** Pairs of equal lines of a shortest difference (Myers), last to first; none when it is longer than is looked for. */
function common(old: readonly string[], now: readonly string[]): (readonly [number, number])[] {
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let changes = 0; changes <= Math.min(MOST_CHANGES, old.length + now.length); changes += 1) {
    trace.push(new Map(reach));
    for (let k = -changes; k <= changes; k += 2) {
      const x = run(old, now, startOf(reach, k, changes), k);
      reach.set(k, x);
      if (x >= old.length && x - k >= now.length) return walkBack(trace, old.length, now.length);
    }
    reach = new Map(reach);
  }
  return [];
}

function startOf(reach: ReadonlyMap<number, number>, k: number, changes: number): number {
  const down = reach.get(k + 1) ?? -1;
  const right = reach.get(k - 1) ?? -1;
  return k === -changes || (k !== changes && right < down) ? down : right + 1;
}

function run(old: readonly string[], now: readonly string[], from: number, k: number): number {
  let x = from;
  while (x < old.length && x - k < now.length && old[x] === now[x - k]) x += 1;
  return x;
}

function walkBack(trace: readonly ReadonlyMap<number, number>[], oldEnd: number, newEnd: number) {
  const pairs: (readonly [number, number])[] = [];
  let [x, y] = [oldEnd, newEnd];
  for (let changes = trace.length - 1; changes >= 0; changes -= 1) {
    const reach = trace[changes] as ReadonlyMap<number, number>;
    const k = x - y;
    const isDown = k === -changes || (k !== changes && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const before = isDown ? k + 1 : k - 1;
    const fromX = changes === 0 ? 0 : (reach.get(before) ?? 0);
    const fromY = changes === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
    [x, y] = [fromX, fromY];
  }
  return pairs;
}

/** Lines `start` to `end` (exclusive) of a text, in the one that it became by those matches of `matchLines`. */
export function followRange(found: readonly number[], start: number, end: number): { start: number; end: number } {
  const before = found.slice(0, start).findLast((line) => line >= 0) ?? -1;
  const first = found[start] ?? -1;
  const from = first >= 0 ? first : before + 1;
  const inside = found.slice(start, end);
  if (end > start && (inside.at(-1) ?? -1) >= 0) return { start: from, end: (inside.at(-1) as number) + 1 };
  const after = found.slice(end).find((line) => line >= 0);
  const last = inside.findLast((line) => line >= 0);
  if (end === start) return { start: from, end: from };
  return { start: from, end: after ?? (last === undefined ? Number.POSITIVE_INFINITY : last + 1) };
}

/** The text with the line ends that its lines had in `before`, where that mixed several. */
export function restoreEnds(text: string, before: string): string {
  const ends = new Set(before.match(/\r\n|\n|\r/g));
  if (ends.size < 2) return text;
  const old = splitLines(before);
  const now = splitLines(text);
  matchLines(old, now).forEach((to, at) => {
    if (to >= 0 && /[\r\n]$/.test(old[at] as string) && /[\r\n]$/.test(now[to] as string)) now[to] = old[at] as string;
  });
  return now.join("");
}
