/**
 * The right sides of the diffs as documents: what stands there is what the user wants. What they type is taken as it
 * is typed, whatever VS Code has saved of it; what a decision changes is put there; and none is left unsaved, so that
 * closing one never asks.
 */

import * as vscode from "vscode";
import { splitLines } from "../review/hunks";
import { sameText } from "../review/lines";
import { isOpen } from "../review/model";
import { shownText, waits } from "../review/shown";
import { PROPOSAL, type ProposedFiles, sideOf, subjectOf } from "./proposedFiles";
import type { Reviews, Subject } from "./reviews";

/** Somebody may type between two tries of putting a text. */
const TRIES = 3;

export class RightSides implements vscode.Disposable {
  private readonly watched: vscode.Disposable;
  /** Texts that are being put, by document: not what the user made. */
  private readonly putting = new Map<string, string>();
  /** Texts are put and saved one after the other. */
  private queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly reviews: Reviews,
    private readonly files: ProposedFiles,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.watched = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (document.uri.scheme === PROPOSAL && contentChanges.length > 0) this.changed(document);
    });
  }

  /** Take what stands on each right side now; all that was put there before stands. */
  async take(): Promise<void> {
    await this.settled();
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme === PROPOSAL) this.takeOne(document);
    }
  }

  /** Until all texts are put and saved. */
  settled(): Promise<void> {
    return this.queue;
  }

  /** Show what is left of the proposal. */
  show(subject: Subject): void {
    this.enqueue(() => this.put(subject));
  }

  /** Nothing of that edit is unsaved any more. */
  async keepAll(txn: string): Promise<void> {
    await this.settled();
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme === PROPOSAL && document.uri.query === txn && document.isDirty) await this.keep(document);
    }
  }

  private enqueue(work: () => Promise<void>): void {
    this.queue = this.queue.then(work).catch((error) => this.log.warn(String(error)));
  }

  private changed(document: vscode.TextDocument): void {
    if (this.isPut(document)) return;
    const subject = subjectOf(this.reviews, document.uri);
    if (subject !== undefined && !this.takeOne(document)) this.show(subject);
    this.enqueue(() => this.keep(document));
  }

  private keep(document: vscode.TextDocument): Promise<void> {
    return this.files.unlocked(document.uri, () => keep(document));
  }

  private isPut(document: vscode.TextDocument): boolean {
    const text = this.putting.get(document.uri.toString());
    return text !== undefined && sameText(text, document.getText());
  }

  /** Whether what stands there counts: a file that is decided is not changed any more. */
  private takeOne(document: vscode.TextDocument): boolean {
    const subject = subjectOf(this.reviews, document.uri);
    const review = subject && this.reviews.review(subject.txn);
    const file = subject && this.reviews.file(subject);
    if (subject === undefined || review === undefined || file === undefined) return false;
    if (!isOpen(review) || !waits(file)) return false;
    const text = document.getText();
    if (!sameText(text, shownText(file))) this.reviews.dispatch({ kind: "edited", ...subject, text });
    return true;
  }

  private async put(subject: Subject): Promise<void> {
    const uri = sideOf(PROPOSAL, subject).toString();
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri);
    if (document === undefined) return this.files.refresh(subject);
    await this.files.unlocked(document.uri, async () => {
      await this.fill(document, subject);
      await keep(document);
    });
    this.files.restate(subject); // a decided one is read-only from now on
  }

  private async fill(document: vscode.TextDocument, subject: Subject): Promise<void> {
    for (let tries = 0; tries < TRIES && !document.isClosed; tries += 1) {
      const file = await this.reviews.complete(subject);
      if (file === undefined || sameText(document.getText(), shownText(file))) return;
      if (await this.write(document, shownText(file))) return;
    }
  }

  private async write(document: vscode.TextDocument, text: string): Promise<boolean> {
    const key = document.uri.toString();
    const edit = new vscode.WorkspaceEdit();
    const { range, lines } = difference(document, text);
    edit.replace(document.uri, range, lines);
    this.putting.set(key, text);
    try {
      return await vscode.workspace.applyEdit(edit);
    } finally {
      this.putting.delete(key);
    }
  }

  dispose(): void {
    this.watched.dispose();
  }
}

/** What of a document differs from a text, in whole lines: the cursor and the marks elsewhere stay. */
function difference(document: vscode.TextDocument, text: string): { range: vscode.Range; lines: string } {
  const [old, now] = [splitLines(document.getText()), splitLines(text)];
  let head = 0;
  while (head < Math.min(old.length, now.length) && sameText(old[head] as string, now[head] as string)) head += 1;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && sameText(old.at(-1 - tail) as string, now.at(-1 - tail) as string)) tail += 1;
  const range = document.validateRange(new vscode.Range(head, 0, old.length - tail, 0));
  return { range, lines: now.slice(head, now.length - tail).join("") };
}

/**
 * Save a right side, which writes no file. Where settings would have VS Code format what it saves, the one in front is
 * saved without: what the user typed is what they accept.
 */
async function keep(document: vscode.TextDocument): Promise<void> {
  if (document.isClosed) return;
  if (isInFront(document) && changesWhatItSaves(document)) {
    await vscode.commands.executeCommand("workbench.action.files.saveWithoutFormatting");
  } else {
    await document.save();
  }
}

function isInFront({ uri }: vscode.TextDocument): boolean {
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const inTab = tab instanceof vscode.TabInputTextDiff && tab.modified.toString() === uri.toString();
  return inTab && vscode.window.activeTextEditor?.document.uri.toString() === uri.toString();
}

function changesWhatItSaves(document: vscode.TextDocument): boolean {
  const of = vscode.workspace.getConfiguration(undefined, document);
  const actions = Object.values(of.get<Record<string, unknown>>("editor.codeActionsOnSave") ?? {});
  const trims = ["files.trimTrailingWhitespace", "files.insertFinalNewline", "files.trimFinalNewlines"];
  return ["editor.formatOnSave", ...trims].some((name) => of.get(name) === true) || actions.length > 0;
}
