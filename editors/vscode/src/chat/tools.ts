/** Tool calls: ACP's fields as a line of the transcript. */

import type { ContentBlock, ToolCallFields, ToolContent } from "../protocol/acp";
import type { ToolDiff, ToolItem } from "./state";

/** The text of a block; what is no text is named. */
export function blockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return "(image)";
    case "resource_link":
      return block.name;
    case "resource":
      return block.resource.text ?? block.resource.uri;
  }
}

/** The Markdown in a call's content; diffs are shown by the review, not here. */
export function toolOutput(content: readonly ToolContent[]): string {
  return content.flatMap((part) => (part.type === "content" ? [blockText(part.content)] : [])).join("\n\n");
}

/** The same where a person decides on it: with the diffs. */
export function askedOutput(content: readonly ToolContent[]): string {
  return content
    .flatMap((part) =>
      part.type === "content" ? [blockText(part.content)] : part.type === "diff" ? [asDiff(part)] : [],
    )
    .join("\n\n");
}

/** Lines before and after a change that are shown with it. */
const AROUND = 2;

/** One block of a diff, from the first line that differs to the last. */
function asDiff({ path, oldText, newText }: Extract<ToolContent, { readonly type: "diff" }>): string {
  const before = linesOf(oldText ?? "");
  const after = linesOf(newText);
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const lines = [
    ...before.slice(Math.max(0, head - AROUND), head).map((line) => ` ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
    ...after
      .slice(after.length - tail)
      .slice(0, AROUND)
      .map((line) => ` ${line}`),
  ];
  const fence = "`".repeat(Math.max(3, ...lines.map((line) => (/`+/.exec(line)?.[0].length ?? 0) + 1)));
  return `${path}\n\n${fence}diff\n${lines.join("\n")}\n${fence}`;
}

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

export function newTool(told: ToolCallFields, at: number): ToolItem {
  const blank: ToolItem = {
    kind: "tool",
    id: told.toolCallId,
    title: told.toolCallId,
    toolKind: "other",
    status: "pending",
    summary: null,
    output: "",
    diffs: [],
    location: null,
    since: at,
    seconds: null,
  };
  return mergeTool(blank, told, at);
}

/** An update says only what changed; its content replaces all of the old. */
export function mergeTool(item: ToolItem, told: ToolCallFields, at: number): ToolItem {
  const extra = told._meta?.["agent-server"];
  const status = told.status ?? item.status;
  const begins = item.status === "pending" && status === "in_progress";
  return {
    ...item,
    title: told.title ?? item.title,
    toolKind: told.kind ?? item.toolKind,
    status,
    summary: extra?.summary ?? item.summary,
    output: told.content ? toolOutput(told.content) : item.output,
    diffs: told.content ? told.content.flatMap(diffOf) : item.diffs,
    location: told.locations?.[0] ?? item.location,
    since: begins ? at : item.since,
    seconds: extra?.seconds ?? item.seconds,
  };
}

function diffOf(part: ToolContent): ToolDiff[] {
  if (part.type !== "diff") return [];
  const [added, removed] = changedLines(part.oldText ?? "", part.newText);
  return [{ path: part.path, added, removed }];
}

/** Lines that only the new and only the old text has, as a multiset: a count for a label, not a diff. */
export function changedLines(before: string, after: string): readonly [added: number, removed: number] {
  const counts = new Map<string, number>();
  const lines = (text: string) => text.split("\n").filter((line, at, all) => line !== "" || at < all.length - 1);
  for (const line of lines(before)) counts.set(line, (counts.get(line) ?? 0) - 1);
  for (const line of lines(after)) counts.set(line, (counts.get(line) ?? 0) + 1);
  const values = [...counts.values()];
  return [
    values.filter((n) => n > 0).reduce((sum, n) => sum + n, 0),
    values.filter((n) => n < 0).reduce((sum, n) => sum - n, 0),
  ];
}
