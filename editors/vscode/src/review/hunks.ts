/** Hunks in a text: whole lines of the base, first to last, none overlapping. Pure. */

import type { ProposedHunk } from "../protocol/messages";

/** Lines with their ends, as LSP counts them: \n, \r\n and \r end one. The last may be empty and is then left out. */
export function splitLines(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? [];
}

/** The base with those hunks applied. */
export function applyHunks(base: string, hunks: readonly ProposedHunk[]): string {
  const lines = splitLines(base);
  const parts: string[] = [];
  let next = 0;
  for (const hunk of hunks) {
    parts.push(...lines.slice(next, hunk.range.start.line), hunk.newText);
    next = hunk.range.end.line;
  }
  return [...parts, ...lines.slice(next)].join("");
}

/** Where a shown hunk stands in the text that `applyHunks` makes: lines, end exclusive. */
export interface PlacedHunk {
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

export function placeHunks(hunks: readonly ProposedHunk[]): PlacedHunk[] {
  let shift = 0;
  return hunks.map((hunk) => {
    const start = hunk.range.start.line + shift;
    const size = splitLines(hunk.newText).length;
    shift += size - (hunk.range.end.line - hunk.range.start.line);
    return { id: hunk.id, start, end: start + size };
  });
}
