/**
 * Markdown that streams, cut into pieces that render the same alone as together and never change once another follows:
 * only the last one is rendered again. Code is cut further, into segments. Pure.
 */

/** At the left edge: a fence that is indented belongs to a list. */
const EDGE = /^(`{3,}|~{3,})/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A line that may belong to the block above an empty line. */
const CONTINUES = /^(\s{2,}|\t|[-*+] |\d+[.)] |>|\[)/;
/** A line that is still being said, and may yet become such a line. */
const UNDECIDED = /^(\s*|[-*+]|\d+[.)]?)$/;
/** What could end a fence, anywhere. */
const MARK = /`{3}|~{3}/;
/** Characters from which on a piece ends with its block: smaller blocks share one. */
const ENOUGH = 2_000;
/** Characters after which a block is cut at the end of a line, whatever it is: more takes too long to render at once. */
const TOO_LONG = 12_000;

export interface Piece {
  readonly kind: "text" | "code";
  /** Markdown; of code with its fences. */
  readonly text: string;
}

/** The pieces of a text; joined by nothing they are the text. */
export function split(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  let at = 0;
  let fence: string | undefined;
  let isBlank = false;
  const cut = (kind: Piece["kind"]) => {
    if (at > start) pieces.push({ kind, text: text.slice(start, at) });
    start = at;
  };
  for (const line of text.split(/(?<=\n)/)) {
    const mark = FENCE.exec(line)?.[1];
    const before = fence;
    if (before === undefined && endsBefore(line, isBlank, at - start)) cut("text");
    if (mark !== undefined) fence = nextFence(before, mark, line);
    at += line.length;
    if (before !== undefined && fence === undefined && EDGE.test(text.slice(start, at))) cut("code");
    isBlank = line.trim() === "";
  }
  cut(fence !== undefined && EDGE.test(text.slice(start)) ? "code" : "text");
  return pieces;
}

/** Whether a piece of so many characters ends before that line, outside of fences. */
function endsBefore(line: string, isBlank: boolean, length: number): boolean {
  if (EDGE.test(line) || length >= TOO_LONG) return true;
  const begins = isBlank && line.trim() !== "" && !CONTINUES.test(line) && !UNDECIDED.test(line);
  return begins && length >= ENOUGH;
}

/** The fence that is open after a line that looks like one. */
function nextFence(open: string | undefined, mark: string, line: string): string | undefined {
  if (open === undefined) return mark;
  const closes = mark[0] === open[0] && mark.length >= open.length && line.trim() === mark;
  return closes ? undefined : open;
}

export interface Split {
  readonly text: string;
  readonly pieces: readonly Piece[];
}

export const NOTHING: Split = { text: "", pieces: [] };

/** The pieces of a text that mostly is the one before and a little more: only its last piece is cut again. */
export function splitFurther(before: Split, text: string): Split {
  if (text === before.text) return before;
  const last = before.pieces.at(-1);
  if (last === undefined || !text.startsWith(before.text)) return { text, pieces: split(text) };
  const kept = before.pieces.slice(0, -1);
  const start = before.text.length - last.text.length;
  // Code that goes on is not even read again.
  const saysMore = text.slice(before.text.lastIndexOf("\n") + 1);
  const grown = text.slice(start);
  if (last.kind === "code" && !readCode(last.text).closed && !MARK.test(saysMore)) {
    return { text, pieces: [...kept, { kind: "code", text: grown }] };
  }
  return { text, pieces: [...kept, ...split(grown)] };
}

export interface Code {
  /** The first word behind the fence; empty when there is none. */
  readonly language: string;
  /** What stands between the fences, without the last line's end. */
  readonly code: string;
  /** Whether the second fence is there. */
  readonly closed: boolean;
}

/** What is in a piece of code. */
export function readCode(piece: string): Code {
  const begin = piece.indexOf("\n");
  const first = begin < 0 ? piece : piece.slice(0, begin);
  const mark = EDGE.exec(first)?.[1] ?? "";
  const language = first.slice(mark.length).trim().split(/\s/)[0] ?? "";
  if (begin < 0) return { language, code: "", closed: false };
  const end = piece.endsWith("\n") ? piece.length - 1 : piece.length;
  const lastLine = piece.lastIndexOf("\n", end - 1);
  const last = piece.slice(lastLine + 1, end).trim();
  const closed = lastLine >= begin && last.length >= mark.length && last === (mark[0] ?? "").repeat(last.length);
  return { language, code: piece.slice(begin + 1, closed ? Math.max(lastLine, begin + 1) : end), closed };
}

/** Lines of a segment: at an empty line from the first on, whatever comes at the second. */
const SEGMENT = { enough: 60, most: 120 };

/** Code in segments that are coloured each by itself; joined by line ends they are the code. */
export function segments(code: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let lines = 0;
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) {
    lines += 1;
    const isEmpty = code[at + 1] === "\n";
    if (lines < (isEmpty ? SEGMENT.enough : SEGMENT.most) && at - start < TOO_LONG) continue;
    parts.push(code.slice(start, at));
    start = at + 1;
    lines = 0;
  }
  return [...parts, code.slice(start)];
}

export interface Cut {
  readonly code: string;
  readonly parts: readonly string[];
}

/** The same, where the code is mostly the one before and a little more. */
export function cutFurther(before: Cut, code: string): Cut {
  const last = before.parts.at(-1);
  if (last === undefined || !code.startsWith(before.code)) return { code, parts: segments(code) };
  const start = before.code.length - last.length;
  return { code, parts: [...before.parts.slice(0, -1), ...segments(code.slice(start))] };
}
