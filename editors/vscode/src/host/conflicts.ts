/**
 * An edit that could not be applied because its file moved underneath: shown with all three texts in VS Code's merge
 * editor, or as a diff where there is none. Closing it decides nothing: only a save of the person changes the file.
 */

import * as vscode from "vscode";
import type { Review, ReviewFile } from "../review/model";
import { shownText } from "../review/shown";
import { noticeText } from "./notices";
import type { Previews } from "./previews";
import { PROPOSAL, sideOf } from "./proposedFiles";
import type { Reviews } from "./reviews";

/** Not in the published interface, but what VS Code's own Git extension opens conflicts by. */
const MERGE_EDITOR = "_open.mergeEditor";

export class Conflicts {
  constructor(
    private readonly reviews: Reviews,
    private readonly previews: Previews,
  ) {}

  /** Say what could not be applied and why, and offer to look at it. */
  async explain(review: Review): Promise<void> {
    const file = review.files.find((one) => one.message !== null) ?? review.files[0];
    if (file === undefined) return;
    const name = vscode.workspace.asRelativePath(vscode.Uri.parse(file.uri));
    const why = file.message ?? "it changed while the edit waited";
    const merge = "Merge";
    const offered = file.kind === "edit" ? [merge] : [];
    const text = noticeText(`The edit of ${name} was not applied: ${why}`);
    const chosen = await vscode.window.showWarningMessage(text, ...offered);
    if (chosen === merge) await this.merge(review, file);
  }

  /** The file as it is now and the proposal, over what both come from. */
  private async merge(review: Review, file: ReviewFile): Promise<void> {
    const subject = { txn: review.txn, uri: file.uri };
    const whole = (await this.reviews.complete(subject)) ?? file;
    const uri = vscode.Uri.parse(file.uri);
    const now = (await vscode.workspace.openTextDocument(uri)).getText();
    const side = (text: string) => this.previews.of(uri, text);
    if (await isThere(MERGE_EDITOR)) {
      await vscode.commands.executeCommand(MERGE_EDITOR, {
        base: side(whole.base ?? ""),
        input1: { uri: side(now), title: "Now", description: "the file as it is" },
        input2: { uri: side(shownText(whole)), title: "Proposed", description: "by the agent" },
        output: uri,
      });
      return;
    }
    const title = `${vscode.workspace.asRelativePath(uri)} (now) ↔ (proposed)`;
    await vscode.commands.executeCommand("vscode.diff", uri, sideOf(PROPOSAL, subject), title);
  }
}

async function isThere(command: string): Promise<boolean> {
  return (await vscode.commands.getCommands(false)).includes(command);
}
