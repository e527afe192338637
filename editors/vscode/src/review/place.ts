/** Where a proposal reaches, and which part of it a yes to all may include. Pure. */

import { printableLine } from "../chat/printable";
import type { Review, ReviewFile } from "./model";

/** A folder of the workspace. */
export interface Folder {
  readonly name: string;
  readonly path: string;
}

/** What the server says of an edit that leaves the workspace, also by a link that the path does not show. */
const SAID = /outside (of )?the workspace/i;

/** "outside the workspace: /etc/hosts"; null for a file of the workspace. */
export function placeWords(review: Review, file: ReviewFile, folders: readonly Folder[]): string | null {
  const outside = outsideOf(file, folders);
  if (outside.length > 0) return `outside the workspace: ${outside.map(printableLine).join(", ")}`;
  // No path of the edit shows it, and so it may be any of them.
  const isLinked = SAID.test(review.reason ?? "") && review.files.every((one) => outsideOf(one, folders).length === 0);
  return isLinked ? "outside the workspace" : null;
}

function outsideOf({ uri, oldUri }: ReviewFile, folders: readonly Folder[]): readonly string[] {
  const paths = [uri, oldUri].flatMap((one) => (one === null ? [] : [pathOf(one)]));
  return paths.filter((path) => !folders.some((folder) => path.startsWith(`${folder.path}/`)));
}

function pathOf(uri: string): string {
  return decodeURIComponent(new URL(uri).pathname);
}

/** What stands above a diff: whose it is when that is another session, where it reaches, why the user is asked. */
export function aboutWords(place: string | null, reason: string | null, session: string | null): string | null {
  const isSaid = place !== null && reason?.includes(place) === true;
  const words = [
    session === null ? null : `session “${session}”`,
    isSaid ? null : place,
    reason === null ? null : `why you are asked: ${reason}`,
  ];
  const said = words.filter((one) => one !== null);
  // What VS Code would draw as an icon is text.
  return said.length === 0 ? null : printableLine(said.join(" · ")).replaceAll("$(", "$ (");
}
