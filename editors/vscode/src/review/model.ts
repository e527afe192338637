/**
 * Proposals as the person reviews them: what is decided, what is still open, which text the right side of a diff shows.
 * The server decides what an edit's state is; this follows it. Pure.
 */

import type {
  EditDecision,
  EditProposed,
  EditResolved,
  EditStateChanged,
  HunkNow,
  ProposedFile,
  ProposedHunk,
} from "../protocol/messages";
import { applyHunks, placeHunks, splitLines } from "./hunks";

export type HunkState = HunkNow["state"];

export interface ReviewHunk {
  readonly told: ProposedHunk;
  readonly state: HunkState;
}

export interface ReviewFile {
  readonly uri: string;
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
  readonly revision: number;
  readonly asks: boolean;
  readonly reason: string | null;
  readonly scopes: EditProposed["scopes"];
  readonly state: EditStateChanged["state"];
  readonly files: readonly ReviewFile[];
}

/** Oldest first, by txn. */
export type Reviews = ReadonlyMap<string, Review>;

export type ReviewEvent =
  | { readonly kind: "proposed"; readonly told: EditProposed }
  | { readonly kind: "state"; readonly told: EditStateChanged }
  | {
      readonly kind: "resolved";
      readonly decisions: readonly EditDecision[];
      readonly told: EditResolved;
    }
  | { readonly kind: "revision"; readonly txn: string; readonly revision: number }
  | { readonly kind: "edited"; readonly txn: string; readonly uri: string; readonly text: string }
  | {
      readonly kind: "content";
      readonly txn: string;
      readonly uri: string;
      readonly base: string | null;
      readonly proposed: string | null;
    }
  /** A server that is gone decides nothing any more. */
  | { readonly kind: "lost" };

/** Edits that are settled and still listed. */
const KEPT = 20;

export function applyReview(reviews: Reviews, event: ReviewEvent): Reviews {
  switch (event.kind) {
    case "proposed":
      // Staged edits are asked about later, together, as a proposal of its own: nothing to show or decide yet.
      return event.told.review === "staged" ? reviews : put(reviews, begin(event.told));
    case "state":
      return trim(change(reviews, event.told.txn, (review) => follow(review, event.told)));
    case "resolved":
      return change(reviews, event.told.txn, (review) => decide(review, event.decisions, event.told));
    case "revision":
      return change(reviews, event.txn, (review) => ({ ...review, revision: event.revision }));
    case "edited":
      return changeFile(reviews, event.txn, event.uri, (file) => ({
        ...file,
        edited: event.text === shownText({ ...file, edited: null }) ? null : event.text,
      }));
    case "content":
      return changeFile(reviews, event.txn, event.uri, (file) => ({
        ...file,
        base: event.base,
        proposed: event.proposed,
      }));
    case "lost":
      return new Map([...reviews].map(([txn, review]) => [txn, isOpen(review) ? abandoned(review) : review]));
  }
}

function begin(told: EditProposed): Review {
  const state: HunkState = told.review === "ask" ? "pending" : "applied";
  return {
    txn: told.txn,
    sessionId: told.sessionId,
    revision: told.revision,
    asks: told.review === "ask",
    reason: told.reason ?? null,
    scopes: told.scopes ?? ["once"],
    state: told.review === "ask" ? "proposed" : "applied",
    files: told.files.map((file) => ({
      uri: file.uri,
      kind: file.kind,
      base: file.baseText ?? null,
      proposed: file.newText ?? null,
      hunks: (file.hunks ?? []).map((hunk) => ({ told: hunk, state })),
      edited: null,
      message: null,
    })),
  };
}

function follow(review: Review, told: EditStateChanged): Review {
  const files = new Map(told.files.map((file) => [file.uri, file]));
  return {
    ...review,
    revision: Math.max(review.revision, told.revision),
    state: told.state,
    files: review.files.map((file) => {
      const now = files.get(file.uri);
      const states = new Map((now?.hunks ?? []).map((hunk) => [hunk.id, hunk.state]));
      const message = now?.message ?? file.message;
      return { ...file, message, hunks: file.hunks.map((hunk) => restate(hunk, states)) };
    }),
  };
}

/** `pending` of the server is not news: the person's own decision counts until the edit moves on. */
function restate(hunk: ReviewHunk, states: ReadonlyMap<string, HunkState>): ReviewHunk {
  const state = states.get(hunk.told.id) ?? "pending";
  return state === "pending" ? hunk : { ...hunk, state };
}

function decide(review: Review, decisions: readonly EditDecision[], told: EditResolved): Review {
  const files = review.files.map((file) => ({
    ...file,
    hunks: file.hunks.map((hunk) => decideHunk(file, hunk, decisions)),
  }));
  return { ...review, files, revision: told.revision, state: told.state };
}

/** The last decision that means this hunk; without a uri it means everything, without a hunk the whole file. */
function decideHunk(file: ReviewFile, hunk: ReviewHunk, decisions: readonly EditDecision[]): ReviewHunk {
  const meant = decisions.findLast(
    (one) => (one.uri == null || one.uri === file.uri) && (one.hunk == null || one.hunk === hunk.told.id),
  );
  if (meant === undefined) return hunk;
  return { ...hunk, state: meant.verdict === "accept" ? "accepted" : "rejected" };
}

function abandoned(review: Review): Review {
  return { ...review, state: "abandoned" };
}

// ---- what is shown -------------------------------------------------------------------------------

/** Waits for the person. */
export function isOpen(review: Review): boolean {
  return review.asks && review.state === "proposed";
}

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
}

export function summarise(reviews: Reviews, sessionId: string | null): ReviewSummary {
  const files = [...reviews.values()]
    .filter((review) => review.sessionId === sessionId)
    .flatMap((review) => openFiles(review).map((file) => ({ txn: review.txn, uri: file.uri, open: undecided(file) })));
  return { edits: files.reduce((sum, file) => sum + Math.max(file.open, 1), 0), files };
}

// ---- the map -------------------------------------------------------------------------------------

function put(reviews: Reviews, review: Review): Reviews {
  return new Map(reviews).set(review.txn, review);
}

function change(reviews: Reviews, txn: string, how: (review: Review) => Review): Reviews {
  const review = reviews.get(txn);
  return review === undefined ? reviews : put(reviews, how(review));
}

function changeFile(reviews: Reviews, txn: string, uri: string, how: (file: ReviewFile) => ReviewFile): Reviews {
  return change(reviews, txn, (review) => ({
    ...review,
    files: review.files.map((file) => (file.uri === uri ? how(file) : file)),
  }));
}

function trim(reviews: Reviews): Reviews {
  const settled = [...reviews.values()].filter((review) => !isOpen(review));
  const gone = new Set(settled.slice(0, Math.max(0, settled.length - KEPT)).map((review) => review.txn));
  return gone.size === 0 ? reviews : new Map([...reviews].filter(([txn]) => !gone.has(txn)));
}
