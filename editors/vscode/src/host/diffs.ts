/** The diffs of proposals as tabs: opened, offered when nobody is in an editor, closed when all is decided. */

import * as vscode from "vscode";
import { openFiles } from "../review/shown";
import { diffTitle } from "../review/words";
import { BASE, PROPOSAL, sideOf } from "./proposedFiles";
import type { Reviews, Subject } from "./reviews";
import type { RightSides } from "./rightSides";
import type { Seen } from "./seen";
import { settings } from "./settings";

export class Diffs {
  constructor(
    private readonly reviews: Reviews,
    private readonly sides: RightSides,
    private readonly seen: Seen,
    /** Whether the keyboard is in the chat. */
    private readonly isInChat: () => boolean,
  ) {}

  /** Show the diff of a file of a proposal. */
  async show(subject: Subject, preserveFocus = false): Promise<void> {
    const review = this.reviews.review(subject.txn);
    const file = this.reviews.file(subject);
    if (review === undefined || file === undefined) return;
    const first = file.hunks[0]?.told.range.start.line ?? 0;
    const [left, right] = [sideOf(BASE, subject), sideOf(PROPOSAL, subject)];
    await vscode.commands.executeCommand(
      "vscode.diff",
      left,
      right,
      diffTitle(review, file, this.seen.place(review, file)),
      {
        preview: false,
        preserveFocus,
        selection: new vscode.Range(first, 0, first, 0),
      },
    );
  }

  /** The first that waits; whether one does. */
  async next(preserveFocus = false): Promise<boolean> {
    const review = this.reviews.open[0];
    const file = review && openFiles(review)[0];
    if (review === undefined || file === undefined) return false;
    await this.show({ txn: review.txn, uri: file.uri }, preserveFocus);
    return true;
  }

  /** A new proposal: shown unless the keyboard may be in an editor, whose place the diff would take, and the next keys. */
  async offer(txn: string): Promise<void> {
    const file = this.reviews.review(txn)?.files[0];
    const scheme = vscode.window.activeTextEditor?.document.uri.scheme;
    const isElsewhere = scheme !== undefined && scheme !== PROPOSAL && scheme !== BASE;
    const mayType = isElsewhere && !this.isInChat();
    if (file === undefined || mayType || settings().openReview === "never") return;
    await this.show({ txn, uri: file.uri }, true);
  }

  /** A decided proposal leaves; what the person had before it is in front again. */
  async close(txn: string, preserveFocus: boolean): Promise<void> {
    await this.sides.keepAll(txn); // else VS Code asks whether to save
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => isDiffOf(tab, txn));
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, preserveFocus);
  }
}

function isDiffOf(tab: vscode.Tab, txn: string): boolean {
  return (
    tab.input instanceof vscode.TabInputTextDiff &&
    tab.input.modified.scheme === PROPOSAL &&
    tab.input.modified.query === txn
  );
}
