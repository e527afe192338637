/** What of a proposal is shown and meant: the right side of a diff, the hunks in it, what waits, what a verdict says. Pure. */

import type { EditDecision, ProposedHunk } from "../protocol/messages";
import { applyHunks, placeHunks, splitLines } from "./hunks";
import { followRange, matchLines, sameText } from "./lines";
import type { HunkState, Review, ReviewFile, ReviewHunk, Reviews } from "./model";
import { isOpen } from "./model";

/** The right side of the diff: the proposal without what was rejected, or what the person made of it. */
export function shownText(file: ReviewFile): string {
  return file.edited ?? proposedText(file);
}

/** The proposal without what was rejected. */
export function proposedText(file: ReviewFile): string {
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

/** The hunks that the right side shows, top to bottom; where the user edits it, at what became of their lines. */
export function places(file: ReviewFile): HunkPlace[] {
  const kept = file.hunks.filter((hunk) => hunk.state !== "rejected");
  const follow = follower(file);
  return placeHunks(told(kept)).map((place, at) => {
    const hunk = kept[at] as ReviewHunk;
    const number = file.hunks.indexOf(hunk) + 1;
    return { ...place, ...follow(place), state: hunk.state, number, of: file.hunks.length };
  });
}

type Range = Pick<HunkPlace, "start" | "end">;

function follower(file: ReviewFile): (range: Range) => Range {
  if (file.edited === null) return (range) => range;
  const now = splitLines(file.edited);
  const found = matchLines(splitLines(proposedText(file)), now);
  return ({ start, end }) => {
    const moved = followRange(found, start, end);
    return { start: Math.min(moved.start, now.length), end: Math.max(moved.start, Math.min(moved.end, now.length)) };
  };
}

/** What the user made of the proposal, with one hunk taken out of it. */
export function withoutHunk(file: ReviewFile, id: string): string {
  const place = places(file).find((one) => one.id === id);
  const hunk = file.hunks.find((one) => one.told.id === id);
  const text = shownText(file);
  if (place === undefined || hunk === undefined) return text;
  const lines = splitLines(text);
  const parts = [lines.slice(0, place.start), splitLines(hunk.told.oldText), lines.slice(place.end)].flat();
  return parts.map((line, at) => (at < parts.length - 1 && !/[\r\n]$/.test(line) ? `${line}\n` : line)).join("");
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

/** Whether a file of an open proposal still waits. A change without hunks waits as a whole. */
export function waits(file: ReviewFile): boolean {
  return file.hunks.length === 0 || undecided(file) > 0;
}

/** Files of an open proposal that still wait, in its order. */
export function openFiles(review: Review): readonly ReviewFile[] {
  return isOpen(review) ? review.files.filter(waits) : [];
}

/**
 * A verdict on a file as it is shown. Yes is to what can be seen: what the person made of it, or the hunks that are still
 * open, never one that was rejected before. No is to all of it.
 */
export function decisionsOn(file: ReviewFile, verdict: EditDecision["verdict"]): readonly EditDecision[] {
  const { uri } = file;
  if (verdict === "reject") return [{ uri, verdict }];
  if (file.edited !== null) return [wholeDecision(file, file.edited)];
  if (file.hunks.length === 0) return [{ uri, verdict }];
  const open = file.hunks.filter((hunk) => hunk.state === "pending");
  return open.map((hunk) => ({ uri, hunk: hunk.told.id, verdict }));
}

/**
 * A verdict on one hunk. The last one of a text that the user edited is on all of it, as it then stands: hunks alone
 * cannot say it.
 */
export function decisionsOnHunk(
  file: ReviewFile,
  id: string,
  verdict: EditDecision["verdict"],
): readonly EditDecision[] {
  const { uri } = file;
  if (file.edited === null) return [{ uri, hunk: id, verdict }];
  if (file.kind !== "edit") return decisionsOn(file, verdict);
  const isLast = file.hunks.every((hunk) => hunk.told.id === id || hunk.state !== "pending");
  if (!isLast) return [{ uri, hunk: id, verdict }];
  return [wholeDecision(file, verdict === "accept" ? file.edited : withoutHunk(file, id))];
}

/** Yes to that text; no where it leaves the file as it is. */
function wholeDecision(file: ReviewFile, text: string): EditDecision {
  const { uri } = file;
  const isNothing = file.kind === "edit" && sameText(text, file.base ?? "");
  return isNothing ? { uri, verdict: "reject" } : { uri, verdict: "accept", editedText: text };
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
    .filter((review) => review.sessionId === sessionId && isOpen(review))
    .flatMap((review) => openFiles(review).map((file) => ({ review, file })));
  const files = waiting.map(({ review, file }) => ({ txn: review.txn, uri: file.uri, open: undecided(file) }));
  const outside = waiting.map(({ review, file }) => place(review, file)).filter((words) => words !== null);
  return { edits: files.reduce((sum, file) => sum + Math.max(file.open, 1), 0), files, outside };
}
