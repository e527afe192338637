/** "Proposed changes" under Source Control, and the mark on such files in the explorer and on tabs. */

import * as vscode from "vscode";
import { printableLine } from "../chat/printable";
import type { Review, ReviewFile } from "../review/model";
import { isDone, isOpen, isStaged } from "../review/model";
import { counts, openFiles } from "../review/shown";
import { folderOf, kindWords, nameOf, stateWords } from "../review/words";
import type { Reviews, Subject } from "./reviews";
import { type Seen, workspace } from "./seen";

interface Node {
  readonly review: Review;
  readonly file: ReviewFile;
}

export class ProposalTree implements vscode.TreeDataProvider<Node>, vscode.FileDecorationProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly marked = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly onDidChangeFileDecorations = this.marked.event;
  private readonly parts: vscode.Disposable[];
  private readonly view: vscode.TreeView<Node>;

  constructor(
    private readonly reviews: Reviews,
    private readonly seen: Seen,
  ) {
    this.view = vscode.window.createTreeView("agent.proposals", { treeDataProvider: this });
    this.parts = [
      this.view,
      vscode.window.registerFileDecorationProvider(this),
      reviews.onDidChange(() => this.refresh()),
      this.changed,
      this.marked,
    ];
  }

  getChildren(node?: Node): Node[] {
    if (node !== undefined) return [];
    const reviews = [...this.reviews.all.values()].reverse();
    const settled = reviews.filter((review) => !isOpen(review) && !isStaged(review));
    const inOrder = [...reviews.filter(isOpen), ...reviews.filter(isStaged), ...settled];
    return inOrder.flatMap((review) => review.files.map((file) => ({ review, file })));
  }

  getTreeItem({ review, file }: Node): vscode.TreeItem {
    const uri = vscode.Uri.parse(file.uri);
    const item = new vscode.TreeItem(nameOf(file.uri));
    item.resourceUri = uri;
    const { added, removed } = counts(file);
    const subject: Subject = { txn: review.txn, uri: file.uri };
    const state = stateWords(review, file);
    const kind = kindWords(file);
    const place = this.seen.place(review, file) ?? folderOf(uri.path, workspace());
    const words = [`+${added} −${removed}`, kind, state, place];
    item.description = words.filter((part) => part !== "" && part !== null).join(" · ");
    item.tooltip = [printableLine(vscode.workspace.asRelativePath(uri)), file.message, this.seen.about(review, file)]
      .filter((line) => line !== null)
      .join("\n");
    item.contextValue = isOpen(review) ? "open" : isDone(review) ? "done" : "settled";
    item.command = { command: "agent.showProposal", title: "Open the diff", arguments: [subject] };
    item.accessibilityInformation = {
      label: `${item.tooltip}, ${added} lines added, ${removed} removed, ${kind === null ? state : `${kind}, ${state}`}`,
    };
    return item;
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== "file") return undefined;
    const wanted = uri.toString();
    const waits = this.reviews.open.some((review) =>
      openFiles(review).some((file) => vscode.Uri.parse(file.uri).toString() === wanted),
    );
    if (!waits) return undefined;
    return new vscode.FileDecoration("◆", "The agent proposes a change", new vscode.ThemeColor("charts.yellow"));
  }

  private refresh(): void {
    const open = this.reviews.open.flatMap(openFiles).length;
    this.view.badge = open === 0 ? undefined : { value: open, tooltip: `${open} files wait for your review` };
    void vscode.commands.executeCommand("setContext", "agent.hasProposals", this.reviews.all.size > 0);
    void vscode.commands.executeCommand("setContext", "agent.waiting", open > 0);
    this.changed.fire();
    this.marked.fire(undefined);
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }
}
