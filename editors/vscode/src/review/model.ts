/**
 * Proposals as the person reviews them: what is decided, what is still open, what the person made of them. How they
 * change is in `reduce`, what of them is shown in `shown`.
 */

import type { EditProposed, EditStateChanged, HunkNow, ProposedFile, ProposedHunk } from "../protocol/messages";

export type HunkState = HunkNow["state"];

export interface ReviewHunk {
  readonly told: ProposedHunk;
  readonly state: HunkState;
}

export interface ReviewFile {
  readonly uri: string;
  /** Where a renamed file was. */
  readonly oldUri: string | null;
  readonly kind: ProposedFile["kind"];
  /** Null while a large text has not been fetched, and where that side does not exist. */
  readonly base: string | null;
  readonly proposed: string | null;
  readonly hunks: readonly ReviewHunk[];
  /** What the person made of the proposal; null while it is as proposed. */
  readonly edited: string | null;
  /** What the server said of it, such as why it is a conflict. */
  readonly message: string | null;
}

export interface Review {
  readonly txn: string;
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly revision: number;
  readonly review: EditProposed["review"];
  readonly reason: string | null;
  readonly scopes: NonNullable<EditProposed["scopes"]>;
  readonly state: EditStateChanged["state"];
  /** A stopped server left it undecided: no turn waits for it, and it can still be decided. */
  readonly leftOpen: boolean;
  readonly files: readonly ReviewFile[];
}

/** Oldest first, by txn. */
export type Reviews = ReadonlyMap<string, Review>;

/** A turn waits for the person's decision. */
export function isWaiting(review: Review): boolean {
  return review.review === "ask" && review.state === "proposed";
}

/** Can be decided. */
export function isOpen(review: Review): boolean {
  return isWaiting(review) || (review.leftOpen && review.state === "abandoned");
}

/** Waits for the end of the turn, to be asked about together with others: as a proposal of its own. */
export function isStaged(review: Review): boolean {
  return review.review === "staged" && review.state === "proposed";
}

/** Was done, and can be taken back. */
export function isDone(review: Review): boolean {
  return review.state === "applied" || review.state === "committed";
}
