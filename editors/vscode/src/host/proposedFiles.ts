/**
 * Both sides of a proposal as documents: `agent:` the base, read-only; `agent-proposal:` what is proposed, which the
 * person may change before accepting it. Their path is the file's, so that they look like it; the query is the txn.
 */

import * as vscode from "vscode";
import { isOpen } from "../review/model";
import { shownText } from "../review/shown";
import type { Reviews, Subject } from "./reviews";

export const BASE = "agent";
export const PROPOSAL = "agent-proposal";

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

  constructor(private readonly reviews: Reviews) {}

  /** Show the proposal's text as it is now. */
  refresh(subject: Subject): void {
    this.clock += 1;
    this.files.fire([{ type: vscode.FileChangeType.Changed, uri: sideOf(PROPOSAL, subject) }]);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    return (await this.find(uri)).base ?? "";
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return new TextEncoder().encode(shownText(await this.find(uri)));
  }

  /** A save of the person's own version of the proposal. The file itself is not touched. */
  writeFile(uri: vscode.Uri, content: Uint8Array): void {
    const subject = subjectOf(this.reviews, uri);
    if (subject === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    this.clock += 1;
    this.reviews.dispatch({ kind: "edited", ...subject, text: new TextDecoder().decode(content) });
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const size = (await this.readFile(uri)).length;
    const review = this.reviews.review(uri.query);
    const decided = review === undefined || !isOpen(review);
    const stat = { type: vscode.FileType.File, ctime: 0, mtime: this.clock, size };
    return decided ? { ...stat, permissions: vscode.FilePermission.Readonly } : stat;
  }

  private async find(uri: vscode.Uri) {
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
