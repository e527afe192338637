/**
 * Both sides of a proposal as documents: `agent:` the base, read-only; `agent-proposal:` what is proposed, which the
 * person may change before accepting it. Their path is the file's, so that they look like it; the query is the txn.
 */

import * as vscode from "vscode";
import { isOpen } from "../review/model";
import { shownText, waits } from "../review/shown";
import type { Reviews, Subject } from "./reviews";

export const BASE = "agent";
export const PROPOSAL = "agent-proposal";

/** Says that it is UTF-8, whatever encoding somebody has set for their files. No part of the text. */
const MARK = "\ufeff";

export function sideOf(scheme: typeof BASE | typeof PROPOSAL, { txn, uri }: Subject): vscode.Uri {
  return vscode.Uri.parse(uri).with({ scheme, query: txn });
}

/** The proposal and file that a document is a side of. */
export function subjectOf(reviews: Reviews, document: vscode.Uri): Subject | undefined {
  if (document.scheme !== PROPOSAL && document.scheme !== BASE) return undefined;
  const txn = document.query;
  const file = reviews.review(txn)?.files.find((one) => vscode.Uri.parse(one.uri).path === document.path);
  return file === undefined ? undefined : { txn, uri: file.uri };
}

export class ProposedFiles implements vscode.FileSystemProvider, vscode.TextDocumentContentProvider {
  private readonly files = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.files.event;
  /** A modification time that rises with every change: VS Code reads again when it does. */
  private clock = Date.now();
  /** How many work on a document, by its name. */
  private readonly inWork = new Map<string, number>();

  constructor(private readonly reviews: Reviews) {}

  /** Show the proposal's text as it is now, where no document has it. */
  refresh(subject: Subject): void {
    this.clock += 1;
    this.restate(subject);
  }

  /** Have VS Code see whether it may be changed: not the text, so that a save in between is no conflict. */
  restate(subject: Subject): void {
    this.files.fire([{ type: vscode.FileChangeType.Changed, uri: sideOf(PROPOSAL, subject) }]);
  }

  /** Do something while the document is not read-only: VS Code does not save what is, and asks about it. */
  async unlocked(uri: vscode.Uri, work: () => Promise<void>): Promise<void> {
    const name = uri.toString();
    this.inWork.set(name, (this.inWork.get(name) ?? 0) + 1);
    try {
      await work();
    } finally {
      this.inWork.set(name, (this.inWork.get(name) ?? 1) - 1);
    }
  }

  private mayLock(uri: vscode.Uri): boolean {
    const name = uri.toString();
    const isDirty = vscode.workspace.textDocuments.some((one) => one.isDirty && one.uri.toString() === name);
    return !isDirty && (this.inWork.get(name) ?? 0) === 0;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    return (await this.find(uri)).base ?? "";
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return new TextEncoder().encode(MARK + shownText(await this.find(uri)));
  }

  /** A save of the right side, whose text is known already: it counts while it stands there, saved or not. */
  writeFile(uri: vscode.Uri): void {
    if (subjectOf(this.reviews, uri) === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    this.clock += 1;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const file = await this.find(uri);
    const size = (await this.readFile(uri)).length;
    const review = this.reviews.review(uri.query);
    const isFixed = review === undefined || !isOpen(review) || !waits(file) || file.kind === "delete";
    const stat = { type: vscode.FileType.File, ctime: 0, mtime: this.clock, size };
    return isFixed && this.mayLock(uri) ? { ...stat, permissions: vscode.FilePermission.Readonly } : stat;
  }

  private async find(uri: vscode.Uri) {
    await this.reviews.known(uri.query);
    const subject = subjectOf(this.reviews, uri);
    const file = subject && (await this.reviews.complete(subject));
    if (file === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return file;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
}
