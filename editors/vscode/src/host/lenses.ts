/** Above each hunk of a proposal: Accept · Reject · n of m; of one that was applied: Undo. */

import * as vscode from "vscode";
import { isDone, isOpen, type Review, type ReviewFile } from "../review/model";
import type { HunkPlace } from "../review/shown";
import { places } from "../review/shown";
import { PROPOSAL, subjectOf } from "./proposedFiles";
import type { Reviews, Subject } from "./reviews";
import type { Seen } from "./seen";

const TOP = new vscode.Range(0, 0, 0, 0);

export class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly watched: vscode.Disposable;

  constructor(
    private readonly reviews: Reviews,
    private readonly seen: Seen,
  ) {
    this.watched = vscode.Disposable.from(
      reviews.onDidChange(() => this.changed.fire()),
      seen.onDidSettle(() => this.changed.fire()),
    );
  }

  register(): vscode.Disposable {
    return vscode.languages.registerCodeLensProvider({ scheme: PROPOSAL }, this);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const subject = subjectOf(this.reviews, document.uri);
    if (subject === undefined) return [];
    const review = this.reviews.review(subject.txn);
    const file = this.reviews.file(subject);
    if (file === undefined || review === undefined) return [];
    const above = this.above(review, file);
    // What answers comes when it takes an answer.
    return this.seen.takesKeys(subject) ? [...this.below(subject, review, file), ...above] : above;
  }

  /** Whose it is, where it reaches and why it is asked; behind what answers, which must not be cut off. */
  private above(review: Review, file: ReviewFile): vscode.CodeLens[] {
    const about = this.seen.about(review, file);
    const title = `$(warning) ${about}`;
    return about === null || !isOpen(review) ? [] : [new vscode.CodeLens(TOP, { title, command: "" })];
  }

  private below(subject: Subject, review: Review, file: ReviewFile): vscode.CodeLens[] {
    if (isDone(review)) return places(file).flatMap((place) => undoLenses(subject, place));
    if (!isOpen(review)) return [];
    const isEdited = file.edited !== null;
    const hunks = places(file).flatMap((place) => hunkLenses(subject, place));
    return isEdited || file.hunks.length === 0 ? [...wholeFile(subject, isEdited), ...hunks] : hunks;
  }

  dispose(): void {
    this.watched.dispose();
    this.changed.dispose();
  }
}

function hunkLenses(subject: Subject, place: HunkPlace): vscode.CodeLens[] {
  const range = new vscode.Range(place.start, 0, place.start, 0);
  const count = `${place.number} of ${place.of}`;
  if (place.state !== "pending") {
    return [new vscode.CodeLens(range, { title: `$(check) Accepted · ${count}`, command: "" })];
  }
  const hunk = [{ ...subject, hunk: place.id }];
  return [
    new vscode.CodeLens(range, { title: "$(check) Accept", command: "agent.acceptHunk", arguments: hunk }),
    new vscode.CodeLens(range, { title: "$(close) Reject", command: "agent.rejectHunk", arguments: hunk }),
    new vscode.CodeLens(range, { title: count, command: "agent.nextHunk", tooltip: "Next hunk" }),
  ];
}

function undoLenses(subject: Subject, place: HunkPlace): vscode.CodeLens[] {
  if (place.state !== "applied") return [];
  const range = new vscode.Range(place.start, 0, place.start, 0);
  const hunk = [{ ...subject, hunk: place.id }];
  return [new vscode.CodeLens(range, { title: "$(discard) Undo", command: "agent.revert", arguments: hunk })];
}

function wholeFile(subject: Subject, edited: boolean): vscode.CodeLens[] {
  const range = new vscode.Range(0, 0, 0, 0);
  const accept = edited ? "$(check) Accept with your changes" : "$(check) Accept";
  return [
    new vscode.CodeLens(range, { title: accept, command: "agent.acceptFile", arguments: [subject] }),
    new vscode.CodeLens(range, { title: "$(close) Reject", command: "agent.rejectFile", arguments: [subject] }),
  ];
}
