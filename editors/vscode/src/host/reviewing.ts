/** Review in VS Code's own diff editor: opened, walked, decided, closed. Nothing takes the focus unasked. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { EditDecision } from "../protocol/messages";
import type { Review, ReviewEvent } from "../review/model";
import { decisionsOn, hunkAt, isOpen, neighbour, openFiles, undecided } from "../review/model";
import { BASE, PROPOSAL, type ProposedFiles, sideOf, subjectOf } from "./proposedFiles";
import type { Reviews, Subject } from "./reviews";
import { settings } from "./settings";

/** Somebody who typed so lately is not shown another document. */
const TYPING_MS = 2_000;

type Verdict = EditDecision["verdict"];

export class Reviewing implements vscode.Disposable {
  private readonly watched: vscode.Disposable[];
  private typed = 0;
  private readonly versions = new WeakMap<vscode.TextDocument, number>();
  /** The last decision was made in the diff, by a key or a click: the keyboard goes back to the editor behind it. */
  private inEditor = false;

  constructor(
    private readonly reviews: Reviews,
    private readonly files: ProposedFiles,
  ) {
    this.watched = [
      reviews.onDidChange((event) => void this.follow(event)),
      vscode.workspace.onDidChangeTextDocument((change) => this.changed(change)),
      vscode.window.onDidChangeTextEditorSelection((change) => this.moved(change)),
      vscode.window.onDidChangeActiveTextEditor((editor) => setReviewing(editor)),
    ];
  }

  // ---- opening -----------------------------------------------------------------------------------

  /** Show the diff of a file of a proposal. */
  async show(subject: Subject, preserveFocus = false): Promise<void> {
    const file = this.reviews.file(subject);
    if (file === undefined) return;
    const title = `${path.posix.basename(vscode.Uri.parse(file.uri).path)} (proposed)`;
    const first = file.hunks[0]?.told.range.start.line ?? 0;
    await vscode.commands.executeCommand("vscode.diff", sideOf(BASE, subject), sideOf(PROPOSAL, subject), title, {
      preview: false,
      preserveFocus,
      selection: new vscode.Range(first, 0, first, 0),
    });
  }

  /** The first that waits. */
  async next(preserveFocus = false): Promise<void> {
    const review = this.reviews.open[0];
    const file = review && openFiles(review)[0];
    if (file !== undefined) await this.show({ txn: review?.txn ?? "", uri: file.uri }, preserveFocus);
  }

  // ---- following the proposals -------------------------------------------------------------------

  private async follow(event: ReviewEvent): Promise<void> {
    switch (event.kind) {
      case "proposed":
        if (event.told.review === "ask") await this.offer(event.told.txn);
        return;
      case "resolved":
        await this.resolved(event.told.txn, event.decisions);
        return;
      case "state":
        await this.ended(event.told.txn);
        return;
      case "lost":
        for (const txn of this.reviews.all.keys()) await this.ended(txn);
        return;
      case "revision":
      case "edited":
      case "content":
        return;
    }
  }

  private async offer(txn: string): Promise<void> {
    const file = this.reviews.review(txn)?.files[0];
    const busy = Date.now() - this.typed < TYPING_MS;
    if (file === undefined || busy || settings().openReview === "never") return;
    await this.show({ txn, uri: file.uri }, true);
  }

  /** After a decision: the next file that waits, or the end. */
  private async resolved(txn: string, decisions: readonly EditDecision[]): Promise<void> {
    const review = this.reviews.review(txn);
    if (review === undefined) return;
    for (const file of review.files) this.files.refresh({ txn, uri: file.uri });
    if (!isOpen(review)) return this.close(txn);
    const decided = decisions.map((decision) => this.reviews.file({ txn, uri: decision.uri ?? "" }));
    if (decided.some((file) => file !== undefined && undecided(file) === 0)) {
      const [following] = openFiles(review);
      if (following !== undefined) await this.show({ txn, uri: following.uri });
    }
  }

  private async ended(txn: string): Promise<void> {
    const review = this.reviews.review(txn);
    if (review === undefined || isOpen(review)) return;
    await this.close(txn);
    if (review.state === "conflict" || review.state === "failed") void this.explain(review);
  }

  /** What could not be applied, beside the file as it is now. */
  private async explain(review: Review): Promise<void> {
    const file = review.files.find((one) => one.message !== null) ?? review.files[0];
    if (file === undefined) return;
    const name = vscode.workspace.asRelativePath(vscode.Uri.parse(file.uri));
    const why = file.message ?? "it changed while the edit waited";
    const compare = "Compare with the file";
    const chosen = await vscode.window.showWarningMessage(`The edit of ${name} was not applied: ${why}`, compare);
    if (chosen !== compare) return;
    const subject = { txn: review.txn, uri: file.uri };
    const title = `${name} (now) ↔ (proposed)`;
    await vscode.commands.executeCommand("vscode.diff", vscode.Uri.parse(file.uri), sideOf(PROPOSAL, subject), title);
  }

  /** A decided proposal leaves; what the person had before it is in front again. */
  private async close(txn: string): Promise<void> {
    const mine = vscode.workspace.textDocuments.filter((one) => one.uri.scheme === PROPOSAL && one.uri.query === txn);
    for (const document of mine) if (document.isDirty) await document.save();
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => isDiffOf(tab, txn));
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, !this.inEditor);
  }

  /** A cursor that keys moved in a document that is another since: somebody types there. */
  private moved({ textEditor, kind }: vscode.TextEditorSelectionChangeEvent): void {
    const { document } = textEditor;
    const before = this.versions.get(document) ?? document.version;
    this.versions.set(document, document.version);
    const byKeys = kind === vscode.TextEditorSelectionChangeKind.Keyboard;
    if (byKeys && document.uri.scheme === "file" && before !== document.version) this.typed = Date.now();
  }

  private changed({ document }: vscode.TextDocumentChangeEvent): void {
    const subject = document.uri.scheme === PROPOSAL ? subjectOf(this.reviews, document.uri) : undefined;
    if (subject !== undefined) this.reviews.dispatch({ kind: "edited", ...subject, text: document.getText() });
  }

  // ---- deciding ----------------------------------------------------------------------------------

  /** One hunk: the given one, or that at the cursor. */
  async decideHunk(verdict: Verdict, given?: Subject & { readonly hunk: string }): Promise<void> {
    this.inEditor = true;
    const at = given ?? this.atCursor();
    if (at !== undefined) await this.reviews.decide(at.txn, [{ uri: at.uri, hunk: at.hunk, verdict }]);
  }

  /** A whole file, with what the person made of it. */
  async decideFile(verdict: Verdict, given?: Subject): Promise<void> {
    this.inEditor = given === undefined || this.inFront() !== undefined;
    const subject = given ?? this.inFront();
    if (subject === undefined) return;
    const file = this.reviews.file(subject);
    if (file !== undefined) await this.reviews.decide(subject.txn, decisionsOn(file, verdict));
  }

  async decideAll(verdict: Verdict): Promise<void> {
    this.inEditor = false;
    for (const review of this.reviews.open) {
      const decisions = openFiles(review).flatMap((file) => decisionsOn(file, verdict));
      await this.reviews.decide(review.txn, decisions);
    }
  }

  /** To the next or previous open hunk of the diff in front, or of the next file when there is none. */
  async step(step: 1 | -1): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const subject = this.inFront();
    const file = subject && this.reviews.file(subject);
    const place = editor && file && neighbour(file, editor.selection.active.line, step);
    if (editor === undefined || place === undefined) return this.next();
    const position = new vscode.Position(place.start, 0);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private atCursor(): (Subject & { readonly hunk: string }) | undefined {
    const subject = this.inFront();
    const file = subject && this.reviews.file(subject);
    const line = vscode.window.activeTextEditor?.selection.active.line ?? 0;
    const place = file && hunkAt(file, line);
    return subject && place && { ...subject, hunk: place.id };
  }

  private inFront(): Subject | undefined {
    const editor = vscode.window.activeTextEditor;
    if (editor !== undefined) {
      const subject = subjectOf(this.reviews, editor.document.uri);
      if (subject !== undefined) return subject;
    }
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    return tab instanceof vscode.TabInputTextDiff ? subjectOf(this.reviews, tab.modified) : undefined;
  }

  dispose(): void {
    for (const one of this.watched) one.dispose();
  }
}

function isDiffOf(tab: vscode.Tab, txn: string): boolean {
  return (
    tab.input instanceof vscode.TabInputTextDiff &&
    tab.input.modified.scheme === PROPOSAL &&
    tab.input.modified.query === txn
  );
}

function setReviewing(editor: vscode.TextEditor | undefined): void {
  const scheme = editor?.document.uri.scheme;
  void vscode.commands.executeCommand("setContext", "agent.reviewing", scheme === PROPOSAL || scheme === BASE);
}
