/** `@selection`, `@diagnostics`, `@terminal` and `@path/of/a/file` in a prompt. Pure. */

import type { ContentBlock } from "../protocol/acp";

export type Mention =
  | { readonly kind: "selection" }
  | { readonly kind: "diagnostics" }
  | { readonly kind: "terminal" }
  | { readonly kind: "file"; readonly path: string };

const PATTERN = /(?<=^|\s)@(?:"(?<quoted>[^"]+)"|(?<bare>[^\s"]+))/g;

/** Each once, in order. A word at the end of a sentence loses its full stop, comma or the like. */
export function mentions(text: string): readonly Mention[] {
  const words = [...text.matchAll(PATTERN)].map(
    (match) => match.groups?.["quoted"] ?? (match.groups?.["bare"] ?? "").replace(/[.,;:!?)]+$/, ""),
  );
  return [...new Set(words)].filter((word) => word !== "").map(meant);
}

function meant(word: string): Mention {
  switch (word) {
    case "selection":
    case "diagnostics":
    case "terminal":
      return { kind: word };
    default:
      return { kind: "file", path: word.replace(/^file:/, "") };
  }
}

/** How a mention is written. */
export function written(mention: Mention): string {
  return mention.kind === "file" ? mentionOf(mention.path) : `@${mention.kind}`;
}

/** The text without that mention, and without the blank that stood before it. */
export function withoutMention(text: string, mention: Mention): string {
  const removed = [...text.matchAll(PATTERN)].find((match) => {
    const [found] = mentions(match[0]);
    return found !== undefined && written(found) === written(mention);
  });
  if (removed === undefined) return text;
  const end = removed.index + written(mention).length;
  return `${text.slice(0, removed.index).replace(/ $/, "")}${text.slice(end)}`.trimStart();
}

/** How a path is written in a prompt. */
export function mentionOf(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}

/** The prompt that makes an edit of code that an answer showed; the fence is longer than any in the code. */
export function applyWords(path: string, code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `Apply this code to ${mentionOf(path)} as an edit, where it belongs, and change nothing else:\n\n${fence}\n${code.replace(/\n$/, "")}\n${fence}`;
}

/** The unfinished mention before the cursor, without its `@`; undefined when there is none. */
export function unfinished(text: string, cursor: number): string | undefined {
  return /(?:^|\s)@([^\s"]*)$/.exec(text.slice(0, cursor))?.[1];
}

/** The prompt on the wire: what was typed, then what it mentions. */
export function promptBlocks(text: string, attached: readonly ContentBlock[]): readonly ContentBlock[] {
  return [{ type: "text", text }, ...attached];
}

/** The words of a prompt, as the server gives it back. */
export function textIn(blocks: readonly { readonly [key: string]: unknown }[]): string {
  const texts = blocks as unknown as readonly ContentBlock[];
  return texts.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
