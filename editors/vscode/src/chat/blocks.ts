/** Markdown that streams, cut where what came before can no longer change: only the last part is rendered again. Pure. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A line that may belong to the block above an empty line. */
const CONTINUES = /^(\s{2,}|\t|[-*+] |\d+[.)] |>|\[)/;

/** A line that is still being said, and may yet become such a line. */
const UNDECIDED = /^(\s*|[-*+]|\d+[.)]?)$/;

/** The text in parts that render the same alone as together; joined by nothing they are the text. */
export function splitBlocks(text: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let at = 0;
  let fence: string | undefined;
  let blank = false;
  for (const line of text.split(/(?<=\n)/)) {
    const mark = FENCE.exec(line)?.[1];
    const isEmpty = line.trim() === "";
    if (fence === undefined && blank && !isEmpty && !CONTINUES.test(line) && !UNDECIDED.test(line)) {
      parts.push(text.slice(start, at));
      start = at;
    }
    if (mark !== undefined) fence = nextFence(fence, mark, line);
    blank = isEmpty;
    at += line.length;
  }
  return start < text.length ? [...parts, text.slice(start)] : parts;
}

/** The fence that is open after a line that looks like one. */
function nextFence(open: string | undefined, mark: string, line: string): string | undefined {
  if (open === undefined) return mark;
  const closes = mark[0] === open[0] && mark.length >= open.length && line.trim() === mark;
  return closes ? undefined : open;
}

export interface Split {
  readonly text: string;
  readonly blocks: readonly string[];
}

export const NOTHING: Split = { text: "", blocks: [] };

/** The blocks of a text that mostly is the one before and a little more: only its last block is cut again. */
export function splitFurther(before: Split, text: string): Split {
  const kept = before.blocks.slice(0, -1);
  const start = before.text.length - (before.blocks.at(-1)?.length ?? 0);
  if (!text.startsWith(before.text)) return { text, blocks: splitBlocks(text) };
  return { text, blocks: [...kept, ...splitBlocks(text.slice(start))] };
}
