/** The gutter of a proposal: which lines belong to a hunk, and what became of it. Its menu is in the manifest. */

import * as vscode from "vscode";
import { isOpen } from "../review/model";
import { places } from "../review/shown";
import { PROPOSAL, subjectOf } from "./proposedFiles";
import type { Reviews } from "./reviews";

export class Gutter implements vscode.Disposable {
  private readonly waiting: vscode.TextEditorDecorationType;
  private readonly accepted: vscode.TextEditorDecorationType;
  private readonly parts: vscode.Disposable;

  constructor(
    private readonly reviews: Reviews,
    extension: vscode.Uri,
  ) {
    const mark = (name: string, colour: string) =>
      vscode.window.createTextEditorDecorationType({
        gutterIconPath: vscode.Uri.joinPath(extension, "media", "gutter", `${name}.svg`),
        gutterIconSize: "contain",
        overviewRulerColor: new vscode.ThemeColor(colour),
        overviewRulerLane: vscode.OverviewRulerLane.Left,
      });
    this.waiting = mark("waiting", "charts.yellow");
    this.accepted = mark("accepted", "charts.green");
    this.parts = vscode.Disposable.from(
      this.waiting,
      this.accepted,
      reviews.onDidChange(() => this.show()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.show()),
    );
  }

  private show(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme === PROPOSAL) this.mark(editor);
    }
  }

  /** The first line of each hunk; the words above it say the rest. */
  private mark(editor: vscode.TextEditor): void {
    const subject = subjectOf(this.reviews, editor.document.uri);
    const review = subject && this.reviews.review(subject.txn);
    const file = subject && this.reviews.file(subject);
    const shown = review !== undefined && file !== undefined && isOpen(review) ? places(file) : [];
    const lines = (accepted: boolean) =>
      shown
        .filter((place) => (place.state === "accepted") === accepted)
        .map((place) => ({
          range: new vscode.Range(place.start, 0, place.start, 0),
          hoverMessage: `Hunk ${place.number} of ${place.of}: ${accepted ? "accepted" : "waiting"}`,
        }));
    editor.setDecorations(this.waiting, lines(false));
    editor.setDecorations(this.accepted, lines(true));
  }

  dispose(): void {
    this.parts.dispose();
  }
}
