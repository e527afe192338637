/** Which files of proposals the user has had before their eyes. A yes to what was never shown is none. */

import * as vscode from "vscode";
import { GUARD_MS } from "../chat/consent";
import { isOpen, type Review, type ReviewFile } from "../review/model";
import { aboutWords, placeWords } from "../review/place";
import { openFiles } from "../review/shown";
import type { Conversation } from "./conversation";
import { folders } from "./places";
import { PROPOSAL, subjectOf } from "./proposedFiles";
import type { Reviews, Subject } from "./reviews";

export class Seen implements vscode.Disposable {
  /** Ever shown since it was proposed. */
  private readonly shown = new Set<string>();
  /** On screen, and since when, in milliseconds. */
  private visible: ReadonlyMap<string, number> = new Map();
  private readonly settled = new vscode.EventEmitter<void>();
  /** A diff takes answers now. */
  readonly onDidSettle = this.settled.event;
  private readonly watched: readonly vscode.Disposable[];

  constructor(
    private readonly reviews: Reviews,
    private readonly conversation: Conversation,
  ) {
    this.watched = [
      vscode.window.onDidChangeVisibleTextEditors(() => this.look()),
      reviews.onDidChange((event) => {
        if (event.kind === "proposed") this.forget(event.told.txn);
      }),
    ];
  }

  /** Whether its diff is on screen, or was since it was proposed. */
  has(subject: Subject): boolean {
    this.look();
    return this.shown.has(keyOf(subject));
  }

  /** Whether its diff has stood on screen for a moment: keys of that moment were meant for what was there before. */
  takesKeys(subject: Subject): boolean {
    this.look();
    const since = this.visible.get(keyOf(subject));
    return since !== undefined && Date.now() - since >= GUARD_MS;
  }

  /** What a yes to all of an edit takes, and what it leaves to a yes of its own. */
  split(review: Review): { readonly taken: readonly ReviewFile[]; readonly left: readonly ReviewFile[] } {
    const isTaken = (file: ReviewFile) =>
      this.has({ txn: review.txn, uri: file.uri }) && (this.place(review, file) === null || isAlone(review));
    const files = openFiles(review);
    return { taken: files.filter(isTaken), left: files.filter((file) => !isTaken(file)) };
  }

  /** "outside the workspace: …", or null. */
  place(review: Review, file: ReviewFile): string | null {
    return placeWords(review, file, workspace());
  }

  /** Whose it is when that is another session than the one on screen, where it reaches, and why it is asked. */
  about(review: Review, file: ReviewFile): string | null {
    const { current } = this.conversation;
    const session =
      current?.sessionId === review.sessionId
        ? null
        : (this.conversation.chat(review.sessionId)?.title ?? "Untitled session");
    return aboutWords(this.place(review, file), isOpen(review) ? review.reason : null, session);
  }

  private look(): void {
    const subjects = vscode.window.visibleTextEditors.flatMap(({ document }) => {
      const subject = document.uri.scheme === PROPOSAL ? subjectOf(this.reviews, document.uri) : undefined;
      return subject === undefined ? [] : [keyOf(subject)];
    });
    const isNew = subjects.some((key) => !this.visible.has(key));
    this.visible = new Map(subjects.map((key) => [key, this.visible.get(key) ?? Date.now()]));
    for (const key of subjects) this.shown.add(key);
    if (isNew) setTimeout(() => this.settled.fire(), GUARD_MS);
  }

  /** A new revision is another text. */
  private forget(txn: string): void {
    for (const key of this.shown) if (key.startsWith(`${txn} `)) this.shown.delete(key);
  }

  dispose(): void {
    for (const one of this.watched) one.dispose();
    this.settled.dispose();
  }
}

/** An edit outside the workspace is accepted by itself, never as one of several. */
function isAlone(review: Review): boolean {
  return openFiles(review).length === 1;
}

function keyOf({ txn, uri }: Subject): string {
  return `${txn} ${uri}`;
}

export function workspace() {
  return folders().map(({ name, uri }) => ({ name, path: uri.path }));
}
