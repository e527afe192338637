/** The words of the transcript. Pure. */

import type { ToolStatus } from "../protocol/acp";
import type { PermissionOption } from "../protocol/messages";
import { printableLine } from "./printable";
import type { ToolItem } from "./state";

export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function tokens(count: number): string {
  return count < 1_000 ? String(count) : `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
}

export interface ToolWords {
  readonly verb: string;
  readonly object: string;
  readonly outcome: string;
}

/** Verb, object, outcome: our server's titles begin with the tool's name. */
export function toolLine(item: ToolItem): ToolWords {
  const [verb = "", ...rest] = printableLine(item.title).split(" ");
  const time = item.seconds === null ? "" : duration(item.seconds);
  return { verb, object: rest.join(" "), outcome: [outcome(item), time].filter((part) => part !== "").join(" · ") };
}

/** How a call looks: a command that ran and said no has failed for whoever reads it. */
export function lookOf(item: ToolItem): ToolStatus {
  const saidNo = item.toolKind === "execute" && /^exit [1-9]/.test(item.summary ?? "");
  return item.status === "completed" && saidNo ? "failed" : item.status;
}

/** What a tool said, as one block of Markdown in which all lines stay as they are. While it runs it comes as one. */
export function outputBlock(output: string): string {
  const [, open = "", inside = ""] = /^(`{3,})\n([\s\S]*)\n\1$/.exec(output) ?? [];
  if (open !== "" && !inside.includes(open)) return output;
  const longest = Math.max(2, ...[...output.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${output}\n${fence}`;
}

function outcome(item: ToolItem): string {
  switch (item.status) {
    case "pending":
      return "";
    case "in_progress":
      return "running";
    case "completed":
      return printableLine(item.summary ?? "");
    case "failed":
      return printableLine(item.summary ?? "failed");
  }
}

/** Share of the model's window that is in use, in whole percent. */
export function percent(used: number, size: number): number {
  return size <= 0 ? 0 : Math.min(100, Math.round((100 * used) / size));
}

/** "2 edits in 1 file". */
export function pendingWords(edits: number, files: number): string {
  const many = (count: number, name: string) => `${count} ${name}${count === 1 ? "" : "s"}`;
  return `${many(edits, "edit")} in ${many(files, "file")}`;
}

/**
 * What a button of a question says: the server names how far a yes goes. What is asked about (`title`) stands above the
 * buttons, and is not said again.
 */
export function optionWords(option: PermissionOption, title = ""): string {
  const name = printableLine(option.name);
  if (!option.kind.startsWith("allow")) return name;
  const [, thing, scope] = /^Allow (.*) in (this \w+)$/s.exec(name) ?? [];
  // Its name is cut when it is long.
  const isShown = thing?.endsWith("…")
    ? title.includes(thing.slice(0, -1))
    : thing !== undefined && title.endsWith(thing);
  if (isShown) return `Allow in ${scope}`;
  return name.startsWith("Allow ") ? name : `Allow ${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/** What the file of an exported session is called. */
export function exportName(title: string | null, ending: string): string {
  const words = (title ?? "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return `${words === "" ? "session" : words}.${ending}`;
}

/** Markdown for where none is shown: without the fences around code. */
export function plainWords(markdown: string): string {
  return markdown.replace(/^(`{3,}|~{3,}).*\n?/gm, "").trim();
}
