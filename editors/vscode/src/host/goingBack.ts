/** Going back: an edit or a part of it, and the files and the conversation to a checkpoint. All of it can be undone. */

import * as vscode from "vscode";
import type { CheckpointRestored, CheckpointShown, ProposedFile, RestoreCheckpoint } from "../protocol/messages";
import { isDone } from "../review/model";
import { leftWords, nameOf } from "../review/words";
import { choose } from "./choosing";
import type { AgentClient } from "./client";
import type { Conversation } from "./conversation";
import { noticeText } from "./notices";
import type { Previews } from "./previews";
import type { Part, Reviews } from "./reviews";

interface Parts {
  readonly running: () => Promise<AgentClient>;
  readonly conversation: Conversation;
  readonly reviews: Reviews;
  readonly previews: Previews;
}

/** What of a session is taken back. */
type What = Required<Pick<RestoreCheckpoint, "files" | "chat">>;

export class GoingBack {
  constructor(private readonly parts: Parts) {}

  // ---- edits -------------------------------------------------------------------------------------

  /** Take back an edit that was applied, or a part of it; without one, an edit that the person picks. */
  async revert(given?: Part): Promise<void> {
    const part = given ?? (await this.pickEdit());
    if (part === undefined) return;
    const { txn, left = [] } = await this.parts.reviews.revert(part);
    const words = leftWords(left);
    if (words !== null)
      void vscode.window.showWarningMessage(noticeText(`${txn === null ? "" : "Taken back in part. "}${words}`));
    else void vscode.window.setStatusBarMessage("$(discard) The edit was taken back", 5_000);
  }

  private async pickEdit(): Promise<Part | undefined> {
    const done = [...this.parts.reviews.all.values()].filter(isDone).reverse();
    if (done.length === 0) {
      void vscode.window.showInformationMessage("No edit was applied in this window that could be taken back.");
      return undefined;
    }
    const items = done.map(({ txn, files }) => ({
      label: files.map((file) => nameOf(file.uri)).join(", "),
      description: files.length === 1 ? "" : `${files.length} files`,
      txn,
    }));
    return vscode.window.showQuickPick(items, { title: "Take back an edit" });
  }

  // ---- checkpoints -------------------------------------------------------------------------------

  /** Pick a checkpoint, see what going back to it would do, and do it. */
  async restore(): Promise<void> {
    const sessionId = await this.parts.conversation.open();
    const client = await this.parts.running();
    const { checkpoints } = await client.ask("agent/checkpoint/list", { sessionId });
    const chosen = await pickCheckpoint(checkpoints);
    if (chosen === undefined) return;
    const wanted = { sessionId, id: chosen.id, files: true, chat: chosen.chat ?? false };
    const would = await client.ask("agent/checkpoint/restore", { ...wanted, dryRun: true });
    await this.preview(`Back to: ${chosen.title}`, would.diffs ?? []);
    const what = await pickWhat(chosen, would);
    if (what !== undefined) await this.goTo(sessionId, chosen.id, what);
  }

  private async goTo(sessionId: string, id: string, what: What): Promise<void> {
    const client = await this.parts.running();
    const done = await client.ask("agent/checkpoint/restore", { sessionId, id, ...what, dryRun: false });
    if (what.chat && done.chat === true) await this.parts.conversation.reload(sessionId);
    const words = [doneWords(done), done.note ?? "", leftWords(done.left ?? []) ?? ""].filter((one) => one !== "");
    const undo = done.undo ?? null;
    const chosen = await vscode.window.showInformationMessage(words.join(" "), ...(undo === null ? [] : [UNDO]));
    if (chosen === UNDO && undo !== null) await this.goTo(sessionId, undo, what);
  }

  /** Every file that would change, from now to then, in one tab. */
  private async preview(title: string, diffs: readonly ProposedFile[]): Promise<void> {
    if (diffs.length === 0) return;
    const changes = diffs.map((file) => {
      const uri = vscode.Uri.parse(file.uri);
      const now = file.kind === "create" ? undefined : this.parts.previews.of(uri, file.baseText ?? TOO_LARGE);
      const then = file.kind === "delete" ? undefined : this.parts.previews.of(uri, file.newText ?? TOO_LARGE);
      return [uri, now, then];
    });
    await vscode.commands.executeCommand("vscode.changes", title, changes);
  }
}

const UNDO = "Undo";
const TOO_LARGE = "This text is too large to be shown here.\n";

async function pickCheckpoint(checkpoints: readonly CheckpointShown[]): Promise<CheckpointShown | undefined> {
  const useful = checkpoints.filter(({ files, chat }) => files.length > 0 || chat === true);
  if (useful.length === 0) {
    void vscode.window.showInformationMessage("This session has no checkpoint: the agent has changed no file yet.");
    return undefined;
  }
  const items = [...useful].reverse().map((checkpoint) => ({
    label: checkpoint.prompt ?? checkpoint.title,
    description: new Date(checkpoint.at).toLocaleString(),
    detail: `Before ${checkpoint.files.map(({ uri, change }) => `${change} ${nameOf(uri)}`).join(", ") || "the answer"}`,
    checkpoint,
  }));
  const title = "Go back to the moment before";
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.checkpoint;
}

/** Asked over the preview, and not gone with it: looking around decides nothing. */
async function pickWhat(checkpoint: CheckpointShown, would: CheckpointRestored): Promise<What | undefined> {
  const files = would.would?.length ?? 0;
  const prompts = would.prompts?.length ?? 0;
  const canFiles = files > 0;
  const canChat = checkpoint.chat === true && prompts > 0;
  const items = [
    ...(canFiles && canChat ? [{ label: "Restore files and conversation", files: true, chat: true }] : []),
    ...(canFiles ? [{ label: "Restore the files", files: true, chat: false }] : []),
    ...(canChat ? [{ label: "Restore the conversation", files: false, chat: true }] : []),
  ];
  const left = leftWords(would.left ?? []);
  if (items.length === 0) {
    void vscode.window.showInformationMessage(`Nothing would change. ${left ?? ""}`.trim());
    return undefined;
  }
  const counted = `${plural(files, "file")} would change, ${plural(prompts, "prompt")} would go.`;
  const placeHolder = [counted, left ?? ""].join(" ").trim();
  const nothing = "Leave all as it is";
  const chosen = await choose(items, { title: checkpoint.title, placeHolder, ignoreFocusOut: true, nothing });
  return chosen && { files: chosen.files, chat: chosen.chat };
}

function doneWords({ txn, chat }: CheckpointRestored): string {
  if (txn != null && chat === true) return "The files and the conversation are as they were.";
  if (txn != null) return "The files are as they were.";
  return chat === true ? "The conversation is as it was." : "There was nothing to change.";
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
