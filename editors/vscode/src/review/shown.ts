/** What of a proposal is shown and meant: the right side of a diff, the hunks in it, what waits, what a verdict says. Pure. */

import type { EditDecision, ProposedHunk } from "../protocol/messages";
import { applyHunks, placeHunks, splitLines } from "./hunks";
import type { HunkState, Review, ReviewFile, ReviewHunk, Reviews } from "./model";
import { isOpen, isWaiting } from "./model";

/** The right side of the diff: the proposal without what was rejected, or what the person made of it. */
export function shownText(file: ReviewFile): string {
  if (file.edited !== null) return file.edited;
  const kept = file.hunks.filter((hunk) => hunk.state !== "rejected");
  if (kept.length === file.hunks.length) return file.proposed ?? "";
  return kept.length === 0 ? (file.base ?? "") : applyHunks(file.base ?? "", told(kept));
}

function told(hunks: readonly ReviewHunk[]): ProposedHunk[] {
  return hunks.map((hunk) => hunk.told);
}

export interface HunkPlace {
  readonly id: string;
  readonly state: HunkState;
  /** Lines of `shownText`; `end` is exclusive, and `start` itself where a hunk only removes. */
  readonly start: number;
  readonly end: number;
  /** 1-based, among all hunks of the file. */
  readonly number: number;
  readonly of: number;
}

/** The hunks that the right side shows, top to bottom; none once the person edits there: they no longer fit. */
export function places(file: ReviewFile): HunkPlace[] {
  if (file.edited !== null) return [];
  const kept = file.hunks.filter((hunk) => hunk.state !== "rejected");
  return placeHunks(told(kept)).map((place, at) => {
    const hunk = kept[at] as ReviewHunk;
    const number = file.hunks.indexOf(hunk) + 1;
    return { ...place, state: hunk.state, number, of: file.hunks.length };
  });
}

/** The hunk a command means when the cursor is on a line: the one there, else the next open one, else the last. */
export function hunkAt(file: ReviewFile, line: number): HunkPlace | undefined {
  const open = places(file).filter((place) => place.state === "pending");
  return open.find((place) => line < Math.max(place.end, place.start + 1)) ?? open.at(-1);
}

/** The open hunk after or before a line, going round. */
export function neighbour(file: ReviewFile, line: number, step: 1 | -1): HunkPlace | undefined {
  const open = places(file).filter((place) => place.state === "pending");
  return step === 1
    ? (open.find((place) => place.start > line) ?? open[0])
    : (open.findLast((place) => place.start < line) ?? open.at(-1));
}

export function undecided(file: ReviewFile): number {
  return file.hunks.filter((hunk) => hunk.state === "pending").length;
}

/** Files of an open proposal that still wait, in its order. A change without hunks waits as a whole. */
export function openFiles(review: Review): readonly ReviewFile[] {
  if (!isOpen(review)) return [];
  return review.files.filter((file) => file.hunks.length === 0 || undecided(file) > 0);
}

/**
 * A verdict on a file as it is shown. Yes is to what can be seen: what the person made of it, or the hunks that are still
 * open, never one that was rejected before. No is to all of it.
 */
export function decisionsOn(file: ReviewFile, verdict: EditDecision["verdict"]): readonly EditDecision[] {
  const { uri } = file;
  if (verdict === "reject" || file.hunks.length === 0) return [{ uri, verdict }];
  if (file.edited !== null) return [{ uri, verdict, editedText: file.edited }];
  const open = file.hunks.filter((hunk) => hunk.state === "pending");
  return open.map((hunk) => ({ uri, hunk: hunk.told.id, verdict }));
}

export interface Counts {
  readonly added: number;
  readonly removed: number;
}

export function counts(file: ReviewFile): Counts {
  const count = (texts: readonly string[]) => texts.reduce((sum, text) => sum + splitLines(text).length, 0);
  return {
    added: count(file.hunks.map((hunk) => hunk.told.newText)),
    removed: count(file.hunks.map((hunk) => hunk.told.oldText)),
  };
}

/** What the pending bar says. */
export interface ReviewSummary {
  readonly edits: number;
  readonly files: readonly { readonly txn: string; readonly uri: string; readonly open: number }[];
  /** Files that are not of the workspace, in words. */
  readonly outside: readonly string[];
}

export function summarise(
  reviews: Reviews,
  sessionId: string | null,
  place: (review: Review, file: ReviewFile) => string | null,
): ReviewSummary {
  const waiting = [...reviews.values()]
    .filter((review) => review.sessionId === sessionId && isWaiting(review))
    .flatMap((review) => openFiles(review).map((file) => ({ review, file })));
  const files = waiting.map(({ review, file }) => ({ txn: review.txn, uri: file.uri, open: undecided(file) }));
  const outside = waiting.map(({ review, file }) => place(review, file)).filter((words) => words !== null);
  return { edits: files.reduce((sum, file) => sum + Math.max(file.open, 1), 0), files, outside };
}
