/** What a command was given: by a lens, a row of the tree, a title button, or the gutter of a diff. */

import * as vscode from "vscode";
import type { Part, Subject } from "./reviews";

export type HunkSubject = Subject & { readonly hunk: string };

/** A line's number that was clicked on, 0-based. */
export interface GutterLine {
  readonly uri: vscode.Uri;
  readonly line: number;
}

/** The file of a proposal. */
export function subjectIn(argument: unknown): Subject | undefined {
  if (typeof argument !== "object" || argument === null) return undefined;
  if ("review" in argument && "file" in argument) {
    const row = argument as { readonly review: { readonly txn: string }; readonly file: { readonly uri: string } };
    return { txn: row.review.txn, uri: row.file.uri };
  }
  return "txn" in argument && "uri" in argument ? (argument as Subject) : undefined;
}

/** One hunk of it. */
export function hunkIn(argument: unknown): HunkSubject | undefined {
  const subject = subjectIn(argument);
  return subject !== undefined && "hunk" in subject ? (subject as HunkSubject) : undefined;
}

/** An edit, or a part of one. */
export function partIn(argument: unknown): Part | undefined {
  const subject = subjectIn(argument);
  if (subject !== undefined) return subject;
  return typeof argument === "object" && argument !== null && "txn" in argument ? (argument as Part) : undefined;
}

/** The menu of a line's number gives the line, 1-based, and its document. */
export function gutterLineIn(argument: unknown): GutterLine | undefined {
  if (typeof argument !== "object" || argument === null || !("lineNumber" in argument)) return undefined;
  const { lineNumber, uri } = argument as { readonly lineNumber: number; readonly uri: unknown };
  return uri instanceof vscode.Uri ? { uri, line: lineNumber - 1 } : undefined;
}
