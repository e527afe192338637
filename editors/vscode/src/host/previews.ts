/** Texts to look at, such as what a restore would do: read-only documents that exist while they are shown. */

import * as vscode from "vscode";

export const PREVIEW = "agent-preview";

export class Previews implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly watched: vscode.Disposable;
  private made = 0;

  constructor() {
    this.watched = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(PREVIEW, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
    );
  }

  /** A document with that text, named and highlighted like a file. */
  of(uri: vscode.Uri, text: string): vscode.Uri {
    const preview = uri.with({ scheme: PREVIEW, query: `${++this.made}` });
    this.texts.set(preview.toString(), text);
    return preview;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  dispose(): void {
    this.watched.dispose();
  }
}
