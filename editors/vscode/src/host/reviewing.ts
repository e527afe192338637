/** Review in VS Code's own diff editor: walked and decided, by mouse and keys. Nothing takes the focus unasked. */

import * as vscode from "vscode";
import type { DiffOpened, EditDecision, OpenDiff, ResolveEdit } from "../protocol/messages";
import type { Review } from "../review/model";
import { isOpen } from "../review/model";
import type { ReviewEvent } from "../review/reduce";
import { decisionsOn, decisionsOnHunk, hunkAt, neighbour, openFiles, places, undecided } from "../review/shown";
import { leftToAccept, nameOf, SCOPES } from "../review/words";
import { askFor } from "./asking";
import { choose } from "./choosing";
import type { Conflicts } from "./conflicts";
import type { Diffs } from "./diffs";
import type { GutterLine, HunkSubject } from "./given";
import { BASE, PROPOSAL, subjectOf } from "./proposedFiles";
import type { Reviews, Subject } from "./reviews";
import type { RightSides } from "./rightSides";
import type { Seen } from "./seen";

type Verdict = EditDecision["verdict"];
type Scope = NonNullable<ResolveEdit["remember"]>;

interface Parts {
  readonly reviews: Reviews;
  readonly sides: RightSides;
  readonly diffs: Diffs;
  readonly conflicts: Conflicts;
  readonly seen: Seen;
}

export class Reviewing implements vscode.Disposable {
  private readonly watched: vscode.Disposable[];
  /** The last decision was made in the diff, by a key or a click: the keyboard goes back to the editor behind it. */
  private inEditor = false;

  constructor(private readonly parts: Parts) {
    this.watched = [
      parts.reviews.onDidChange((event) => void this.follow(event)),
      vscode.window.onDidChangeActiveTextEditor((editor) => setReviewing(editor)),
    ];
  }

  // ---- following the proposals -------------------------------------------------------------------

  private async follow(event: ReviewEvent): Promise<void> {
    switch (event.kind) {
      case "proposed":
        this.refresh(event.told.txn);
        if (event.told.review === "ask") await this.parts.diffs.offer(event.told.txn);
        return;
      case "resolved":
        await this.resolved(event.told.txn, event.decisions);
        return;
      case "state":
        await this.ended(event.told.txn);
        return;
      case "lost":
        for (const txn of this.parts.reviews.all.keys()) await this.ended(txn);
        return;
      case "edited":
      case "content":
        return;
    }
  }

  /** After a decision: the next file that waits, or the end. */
  private async resolved(txn: string, decisions: readonly EditDecision[]): Promise<void> {
    const { reviews, diffs } = this.parts;
    const review = reviews.review(txn);
    if (review === undefined) return;
    this.refresh(txn);
    if (!isOpen(review)) return diffs.close(txn, !this.inEditor);
    const decided = decisions.map((decision) => reviews.file({ txn, uri: decision.uri ?? "" }));
    if (decided.some((file) => file !== undefined && undecided(file) === 0)) {
      const [following] = openFiles(review);
      if (following !== undefined) await diffs.show({ txn, uri: following.uri }, !this.inEditor);
    }
  }

  private async ended(txn: string): Promise<void> {
    const review = this.parts.reviews.review(txn);
    if (review?.leftOpen === true) return this.offerLeft(review);
    if (review === undefined || isOpen(review)) return;
    await this.parts.diffs.close(txn, !this.inEditor);
    if (review.state === "conflict" || review.state === "failed") void this.parts.conflicts.explain(review);
  }

  /** No turn waits for it: it is only said, and listed. */
  private async offerLeft({ txn, files }: Review): Promise<void> {
    const look = "Review";
    const names = files.map((file) => nameOf(file.uri)).join(", ");
    const chosen = await vscode.window.showInformationMessage(
      `An edit of ${names} was left open when the server stopped. It can still be decided.`,
      look,
    );
    const [first] = files;
    if (chosen === look && first !== undefined) await this.parts.diffs.show({ txn, uri: first.uri });
  }

  /** The right sides show what is left of the proposal. */
  private refresh(txn: string): void {
    for (const { uri } of this.parts.reviews.review(txn)?.files ?? []) this.parts.sides.show({ txn, uri });
  }

  /** What is decided next is what stands there now, all earlier decisions done. */
  private async ready(): Promise<void> {
    await this.parts.reviews.settled();
    await this.parts.sides.take();
  }

  // ---- deciding ----------------------------------------------------------------------------------

  /** One hunk: the given one, that at a line of the gutter, or that at the cursor. */
  async decideHunk(verdict: Verdict, given?: HunkSubject | GutterLine): Promise<void> {
    this.inEditor = true;
    await this.ready();
    const at = given !== undefined && "hunk" in given ? given : this.hunkAt(given);
    const file = at && this.parts.reviews.file(at);
    if (at === undefined || file === undefined) return;
    if (given === undefined && !this.parts.seen.takesKeys(at)) return;
    if (given === undefined && verdict === "accept" && this.bringIntoView(at)) return;
    await this.parts.reviews.decide(at.txn, decisionsOnHunk(file, at.hunk, verdict));
  }

  /** A whole file, with what the person made of it. */
  async decideFile(verdict: Verdict, given?: Subject, feedback?: string): Promise<void> {
    this.inEditor = given === undefined || this.inFront() !== undefined;
    const subject = given ?? this.inFront();
    await this.ready();
    const file = subject && this.parts.reviews.file(subject);
    if (subject === undefined || file === undefined) return;
    if (given === undefined && !this.parts.seen.takesKeys(subject)) return;
    if (verdict === "accept" && !this.parts.seen.has(subject)) return this.showLeft([subject]);
    await this.parts.reviews.decide(
      subject.txn,
      decisionsOn(file, verdict),
      feedback === undefined ? {} : { feedback },
    );
  }

  /**
   * All that waits, of one session where that is given. Yes is to what was shown, and not to what is outside the
   * workspace: what is left is shown, for a yes of its own.
   */
  async decideAll(verdict: Verdict, remember: Scope = "once", sessionId?: string): Promise<void> {
    this.inEditor = false;
    await this.ready();
    const left: Subject[] = [];
    for (const review of this.parts.reviews.open) {
      if (sessionId !== undefined && review.sessionId !== sessionId) continue;
      const { taken, left: rest } = verdict === "accept" ? this.parts.seen.split(review) : everything(review);
      const decisions = taken.flatMap((file) => decisionsOn(file, verdict));
      const scope = review.scopes.includes(remember) ? remember : "once";
      if (decisions.length > 0) await this.parts.reviews.decide(review.txn, decisions, { remember: scope });
      left.push(...rest.map(({ uri }) => ({ txn: review.txn, uri })));
    }
    await this.showLeft(left);
  }

  private async showLeft(left: readonly Subject[]): Promise<void> {
    const [first] = left;
    if (first === undefined) return;
    void vscode.window.showInformationMessage(leftToAccept(left.map(({ uri }) => nameOf(uri))));
    await this.parts.diffs.show(first);
  }

  /** All that waits, with a yes that reaches as far as the person says and the server allows. */
  async acceptFor(): Promise<void> {
    const allowed = new Set(this.parts.reviews.open.flatMap((review) => review.scopes));
    const scopes = (["once", "session", "workspace"] as const).filter((scope) => allowed.has(scope));
    const items = scopes.map((scope) => ({ scope, ...SCOPES[scope] }));
    const title = "Accept all proposed edits";
    const placeHolder = "How far does this yes reach?";
    const chosen = await choose(items, { title, placeHolder, nothing: "Accept nothing" });
    if (chosen !== undefined) await this.decideAll("accept", chosen.scope);
  }

  /** No to a file, with words that the model hears. */
  async rejectWith(given?: Subject): Promise<void> {
    const subject = given ?? this.inFront();
    if (subject === undefined) return;
    const why = await askFor(`Reject ${nameOf(subject.uri)}`, "Why? The agent hears it.");
    if (why !== undefined) await this.decideFile("reject", subject, why);
  }

  // ---- walking -----------------------------------------------------------------------------------

  /** To the next or previous open hunk of the diff in front, or of the next file when there is none. */
  async step(step: 1 | -1): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const subject = this.inFront();
    const file = subject && this.parts.reviews.file(subject);
    const place = editor && file && neighbour(file, editor.selection.active.line, step);
    if (editor === undefined || place === undefined) {
      await this.parts.diffs.next();
      return;
    }
    const position = new vscode.Position(place.start, 0);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** Asked by the server, for "show changes": one diff, or all files of the edit. */
  async open({ txn, files }: OpenDiff): Promise<DiffOpened> {
    if (this.parts.reviews.review(txn) === undefined) await this.parts.reviews.fetch(txn);
    for (const { uri } of files) await this.parts.diffs.show({ txn, uri });
    return { shown: files.length > 0 && this.parts.reviews.review(txn) !== undefined };
  }

  /** A key means a hunk that is seen: one that is not comes into view instead. Whether it had to. */
  private bringIntoView(subject: HunkSubject): boolean {
    const editor = vscode.window.activeTextEditor;
    const file = this.parts.reviews.file(subject);
    const place = file && places(file).find((one) => one.id === subject.hunk);
    if (editor === undefined || place === undefined) return false;
    const start = new vscode.Position(place.start, 0);
    if (editor.visibleRanges.some((range) => range.contains(start))) return false;
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenter);
    return true;
  }

  private hunkAt(gutter: GutterLine | undefined): HunkSubject | undefined {
    const subject = gutter === undefined ? this.inFront() : subjectOf(this.parts.reviews, gutter.uri);
    const file = subject && this.parts.reviews.file(subject);
    const line = gutter?.line ?? vscode.window.activeTextEditor?.selection.active.line ?? 0;
    const place = file && hunkAt(file, line);
    return subject && place && { ...subject, hunk: place.id };
  }

  private inFront(): Subject | undefined {
    const editor = vscode.window.activeTextEditor;
    if (editor !== undefined) {
      const subject = subjectOf(this.parts.reviews, editor.document.uri);
      if (subject !== undefined) return subject;
    }
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    return tab instanceof vscode.TabInputTextDiff ? subjectOf(this.parts.reviews, tab.modified) : undefined;
  }

  dispose(): void {
    for (const one of this.watched) one.dispose();
  }
}

function setReviewing(editor: vscode.TextEditor | undefined): void {
  const scheme = editor?.document.uri.scheme;
  void vscode.commands.executeCommand("setContext", "agent.reviewing", scheme === PROPOSAL || scheme === BASE);
}

/** No needs no look. */
function everything(review: Review) {
  return { taken: openFiles(review), left: [] };
}
