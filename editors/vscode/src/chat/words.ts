/** The words of the transcript. Pure. */

import type { PermissionOption } from "../protocol/messages";
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
  const [verb = "", ...rest] = item.title.split(" ");
  const time = item.seconds === null ? "" : duration(item.seconds);
  return { verb, object: rest.join(" "), outcome: [outcome(item), time].filter((part) => part !== "").join(" · ") };
}

function outcome(item: ToolItem): string {
  switch (item.status) {
    case "pending":
      return "";
    case "in_progress":
      return "running";
    case "completed":
      return item.summary ?? "";
    case "failed":
      return item.summary ?? "failed";
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

/** What a button of a question says: the server names how far a yes goes. */
export function optionWords(option: PermissionOption): string {
  if (!option.kind.startsWith("allow")) return option.name;
  return `Allow ${option.name.charAt(0).toLowerCase()}${option.name.slice(1)}`;
}
