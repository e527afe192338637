/** How proposals change: by what the server tells and what the person does. The server decides what their state is. Pure. */

import type { EditDecision, EditProposed, EditResolved, EditStateChanged } from "../protocol/messages";
import { restoreEnds, sameText } from "./lines";
import type { HunkState, Review, ReviewFile, ReviewHunk, Reviews } from "./model";
import { isOpen, isStaged } from "./model";
import { proposedText, withoutHunk } from "./shown";

export type ReviewEvent =
  | { readonly kind: "proposed"; readonly told: EditProposed }
  | { readonly kind: "state"; readonly told: EditStateChanged }
  | {
      readonly kind: "resolved";
      readonly decisions: readonly EditDecision[];
      readonly told: EditResolved;
    }
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
      return put(collect(reviews, event.told), begin(event.told, reviews.get(event.told.txn)));
    case "state":
      return trim(change(reviews, event.told.txn, (review) => follow(review, event.told)));
    case "resolved":
      return change(reviews, event.told.txn, (review) => decide(review, event.decisions, event.told));
    case "edited":
      return changeFile(reviews, event.txn, event.uri, (file) => edit(file, event.text));
    case "content":
      return changeFile(reviews, event.txn, event.uri, (file) => ({
        ...file,
        base: event.base,
        proposed: event.proposed,
      }));
    case "lost":
      return lost(reviews);
  }
}

/** What was staged leaves once it is asked about: as a part of that. */
function collect(reviews: Reviews, { review, sessionId, files }: EditProposed): Reviews {
  if (review !== "ask") return reviews;
  const asked = new Set(files.map((file) => file.uri));
  const isCollected = (one: Review) =>
    isStaged(one) && one.sessionId === sessionId && one.files.every((file) => asked.has(file.uri));
  return new Map([...reviews].filter(([, one]) => !isCollected(one)));
}

/** A proposal, anew or for the first time: what was decided and edited of it stays while it means the same lines. */
function begin(told: EditProposed, before: Review | undefined): Review {
  const asks = told.review === "ask";
  return {
    txn: told.txn,
    sessionId: told.sessionId,
    toolCallId: told.toolCallId,
    revision: told.revision,
    review: told.review,
    reason: told.reason ?? null,
    scopes: told.scopes ?? ["once"],
    state: told.review === "applied" ? "applied" : "proposed",
    leftOpen: false,
    files: told.files.map((file) => {
      const old = before?.files.find((one) => one.uri === file.uri);
      const states = new Map(asks ? old?.hunks.map((hunk) => [hunk.told.id, hunk.state]) : []);
      const state: HunkState = told.review === "applied" ? "applied" : "pending";
      return {
        uri: file.uri,
        oldUri: file.oldUri ?? null,
        kind: file.kind,
        base: file.baseText ?? null,
        proposed: file.newText ?? null,
        hunks: (file.hunks ?? []).map((hunk) => ({ told: hunk, state: states.get(hunk.id) ?? state })),
        edited: asks ? (old?.edited ?? null) : null,
        message: null,
      };
    }),
  };
}

function follow(review: Review, told: EditStateChanged): Review {
  const files = new Map(told.files.map((file) => [file.uri, file]));
  const leftOpen = told.state === "abandoned" && isUndecided(review);
  return {
    ...review,
    revision: Math.max(review.revision, told.revision),
    state: told.state,
    leftOpen,
    files: review.files.map((file) => {
      const now = files.get(file.uri);
      const states = new Map((now?.hunks ?? []).map((hunk) => [hunk.id, hunk.state]));
      const message = now?.message ?? file.message;
      const state = (hunk: ReviewHunk) => (leftOpen ? recall(hunk, states) : restate(hunk, states));
      return { ...file, message, hunks: file.hunks.map(state) };
    }),
  };
}

/** What was decided after all ends as `abandoned` too: its outcome is another edit's. */
function isUndecided({ review, state }: Review): boolean {
  return review === "ask" && (state === "proposed" || state === "abandoned");
}

/** What a stopped server had written down of an edit that it left open; what it had not is open again. */
function recall(hunk: ReviewHunk, states: ReadonlyMap<string, HunkState>): ReviewHunk {
  const state = states.get(hunk.told.id);
  return { ...hunk, state: state === "accepted" || state === "rejected" ? state : "pending" };
}

/** `pending` of the server is not news: the person's own decision counts until the edit moves on. */
function restate(hunk: ReviewHunk, states: ReadonlyMap<string, HunkState>): ReviewHunk {
  const state = states.get(hunk.told.id) ?? "pending";
  return state === "pending" ? hunk : { ...hunk, state };
}

function decide(review: Review, decisions: readonly EditDecision[], told: EditResolved): Review {
  const files = review.files.map((file) => decideFile(file, decisions));
  const state = review.leftOpen && told.state === "proposed" ? review.state : told.state;
  return { ...review, files, revision: told.revision, state };
}

/** The right side as the user left it; as proposed when only line ends differ. */
function edit(file: ReviewFile, text: string): ReviewFile {
  const proposed = proposedText(file);
  return { ...file, edited: sameText(text, proposed) ? null : restoreEnds(text, proposed) };
}

/** What is rejected leaves the text that the user edited too. */
function decideFile(file: ReviewFile, decisions: readonly EditDecision[]): ReviewFile {
  const hunks = file.hunks.map((hunk) => decideHunk(file, hunk, decisions));
  if (file.edited === null) return { ...file, hunks };
  const about = decisions.filter((one) => one.uri == null || one.uri === file.uri);
  const whole = about.findLast((one) => one.hunk == null);
  if (whole !== undefined) return { ...file, hunks, edited: whole.editedText ?? null };
  const rejected = about.filter((one) => one.verdict === "reject");
  const text = rejected.reduce((now, one) => withoutHunk({ ...file, edited: now }, one.hunk ?? ""), file.edited);
  return edit({ ...file, hunks }, text);
}

/** The last decision that means this hunk; without a uri it means everything, without a hunk the whole file. */
function decideHunk(file: ReviewFile, hunk: ReviewHunk, decisions: readonly EditDecision[]): ReviewHunk {
  const meant = decisions.findLast(
    (one) => (one.uri == null || one.uri === file.uri) && (one.hunk == null || one.hunk === hunk.told.id),
  );
  if (meant === undefined) return hunk;
  return { ...hunk, state: meant.verdict === "accept" ? "accepted" : "rejected" };
}

function lost(reviews: Reviews): Reviews {
  const known = [...reviews].filter(([, review]) => !isStaged(review));
  return new Map(
    known.map(([txn, review]) => [txn, isOpen(review) ? { ...review, state: "abandoned", leftOpen: false } : review]),
  );
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

/** Forget what is over: the oldest, and what was staged, whose outcome is that of the review it came into. */
function trim(reviews: Reviews): Reviews {
  const settled = [...reviews.values()].filter((review) => !isOpen(review) && !isStaged(review));
  const over = settled.filter((review) => review.review === "staged");
  const rest = settled.filter((review) => review.review !== "staged");
  const gone = new Set([...over, ...rest.slice(0, Math.max(0, rest.length - KEPT))]);
  return gone.size === 0 ? reviews : new Map([...reviews].filter(([, review]) => !gone.has(review)));
}
