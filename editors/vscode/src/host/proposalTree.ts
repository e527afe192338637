/** "Proposed changes" under Source Control, and the mark on such files in the explorer and on tabs. */

import * as vscode from "vscode";
import type { Review, ReviewFile } from "../review/model";
import { counts, isOpen, openFiles, undecided } from "../review/model";
import type { Reviews, Subject } from "./reviews";

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

  constructor(private readonly reviews: Reviews) {
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
    return [...reviews.filter(isOpen), ...reviews.filter((review) => !isOpen(review))].flatMap((review) =>
      review.files.map((file) => ({ review, file })),
    );
  }

  getTreeItem({ review, file }: Node): vscode.TreeItem {
    const item = new vscode.TreeItem(vscode.Uri.parse(file.uri));
    const { added, removed } = counts(file);
    const subject: Subject = { txn: review.txn, uri: file.uri };
    const state = isOpen(review) ? openWords(file) : review.state;
    item.description = `+${added} −${removed} · ${state}`;
    item.tooltip = [vscode.workspace.asRelativePath(vscode.Uri.parse(file.uri)), file.message ?? review.reason]
      .filter((line) => line !== null)
      .join("\n");
    item.contextValue = isOpen(review) ? "open" : "settled";
    item.command = { command: "agent.showProposal", title: "Open the diff", arguments: [subject] };
    item.accessibilityInformation = { label: `${item.tooltip}, ${added} lines added, ${removed} removed, ${state}` };
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

function openWords(file: ReviewFile): string {
  if (file.edited !== null) return "changed by you";
  return file.hunks.length === 0 ? "waiting" : `${undecided(file)} of ${file.hunks.length} waiting`;
}

/** The subject of a command that came from the tree, a lens or a title button. */
export function subjectIn(argument: unknown): Subject | undefined {
  if (typeof argument !== "object" || argument === null) return undefined;
  if ("review" in argument && "file" in argument) {
    const node = argument as Node;
    return { txn: node.review.txn, uri: node.file.uri };
  }
  return "txn" in argument && "uri" in argument ? (argument as Subject) : undefined;
}
