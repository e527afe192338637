/** The words beside a proposal: titles of its diffs, and where its files are. Pure. */

import { printableLine } from "../chat/printable";
import type { Review, ReviewFile } from "./model";
import { isDone, isOpen, isStaged } from "./model";
import type { Folder } from "./place";
import { undecided } from "./shown";

/** The last part of a URI's path, as people read it. */
export function nameOf(uri: string): string {
  return printableLine(decodeURIComponent(new URL(uri).pathname).split("/").at(-1) ?? "");
}

/** The title of a file's diff; `place` says that it is outside the workspace. */
export function diffTitle(review: Review, file: ReviewFile, place: string | null = null): string {
  const name = nameOf(file.uri);
  const named = file.kind === "rename" && file.oldUri !== null ? `${nameOf(file.oldUri)} → ${name}` : name;
  const state = isOpen(review) ? PROPOSED[file.kind] : stateWords(review, file);
  return [`${named} (${state})`, place].filter((part) => part !== null).join(" · ");
}

const PROPOSED = { edit: "proposed", create: "proposed, new", delete: "to be deleted", rename: "proposed" } as const;

/** What became of a file, or what it waits for. */
export function stateWords(review: Review, file: ReviewFile): string {
  if (isStaged(review)) return "staged";
  if (isDone(review)) return "applied";
  if (review.state === "abandoned" && review.leftOpen) return "left open";
  if (!isOpen(review)) return review.state;
  if (file.edited !== null) return "changed by you";
  const inHunks = file.kind === "edit" && file.hunks.length > 0;
  return inHunks ? `${undecided(file)} of ${file.hunks.length} waiting` : "waiting";
}

/** What happens to the file itself; null when only its text changes. */
export function kindWords({ kind }: ReviewFile): string | null {
  return KINDS[kind];
}

const KINDS = { edit: null, create: "new", delete: "deleted", rename: "renamed" } as const;

/** The folder a file is in: below its workspace folder, whose name leads when there are several; whole when outside all. */
export function folderOf(path: string, folders: readonly Folder[]): string {
  const inside = folders.filter((folder) => path.startsWith(`${folder.path}/`));
  const root = inside.sort((one, other) => other.path.length - one.path.length)[0];
  const folder = path.slice(0, path.lastIndexOf("/"));
  if (root === undefined) return folder === "" ? "/" : printableLine(folder);
  const parts = folder.slice(root.path.length + 1);
  return printableLine([folders.length > 1 ? root.name : "", parts].filter((part) => part !== "").join("/"));
}

/** How far a yes may reach, in words for a list. */
export const SCOPES = {
  once: { label: "This time only", detail: "The next edit is asked about again" },
  session: { label: "In this session", detail: "Edits of this kind are applied without asking until the session ends" },
  workspace: { label: "In this workspace", detail: "Edits of this kind are applied without asking in this workspace" },
} as const;

/** One sentence for what was left as it is; null when nothing was. */
export function leftWords(left: readonly { readonly uri: string; readonly why: string }[]): string | null {
  if (left.length === 0) return null;
  const shown = left.slice(0, 3).map(({ uri, why }) => `${nameOf(uri)} (${why})`);
  const more = left.length > 3 ? [`${left.length - 3} more`] : [];
  return `Left as it is: ${[...shown, ...more].join(", ")}.`;
}

/** Why a yes did not take all of it. */
export function leftToAccept(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(", ");
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return `Not accepted: ${shown}${more}. What was not shown yet or is outside the workspace is accepted by itself.`;
}
