/**
 * Open documents whose files something else has changed. VS Code reads a file anew by itself when it sees that it
 * changed and nothing of it is unsaved, which may take a while: this waits for that. What is unsaved stays, and the
 * user is told.
 */

import * as vscode from "vscode";
import type { DocumentsReloaded, ReloadDocuments, ReloadedDocument } from "../protocol/messages";
import { sameText } from "../review/lines";

/** Milliseconds that VS Code may take to see that a file changed. The server waits for 7 s. */
const SEEN_MS = 5_000;
/** Milliseconds between two looks at a file. */
const LOOK_MS = 50;

export async function reloadDocuments({ uris }: ReloadDocuments): Promise<DocumentsReloaded> {
  const documents = await Promise.all(uris.map((uri) => reload(uri)));
  const kept = documents.filter(({ outcome }) => outcome === "modified").map(({ uri }) => nameOf(uri));
  if (kept.length > 0) void vscode.window.showWarningMessage(keptWords(kept));
  return { documents };
}

function nameOf(uri: string): string {
  return vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
}

function keptWords(names: readonly string[]): string {
  return `${names.join(", ")} changed on disk, and has unsaved changes here, which were kept. Saving will ask what to keep.`;
}

async function reload(uri: string): Promise<ReloadedDocument> {
  const wanted = vscode.Uri.parse(uri).toString();
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === wanted);
  if (document === undefined) return { uri, outcome: "closed", version: null };
  if (document.isDirty) return { uri, outcome: "modified", version: document.version };
  const before = document.version;
  for (const end = Date.now() + SEEN_MS; Date.now() < end; await pause()) {
    if (document.isClosed) return { uri, outcome: "closed", version: null };
    if (document.isDirty) return { uri, outcome: "modified", version: document.version };
    if (sameText(document.getText(), await onDisk(document))) break;
  }
  return { uri, outcome: document.version === before ? "unchanged" : "reloaded", version: document.version };
}

/** What VS Code would show of the file; as the document when it cannot be read. */
async function onDisk(document: vscode.TextDocument): Promise<string> {
  try {
    const bytes = await vscode.workspace.fs.readFile(document.uri);
    return await decode(bytes, document);
  } catch {
    return document.getText();
  }
}

/** In the encoding of the document where this VS Code can tell it (1.100), else as UTF-8. */
async function decode(bytes: Uint8Array, document: vscode.TextDocument): Promise<string> {
  const { decode: decodeAs } = vscode.workspace as { readonly decode?: Decode };
  const { encoding } = document as { readonly encoding?: string };
  if (decodeAs === undefined || encoding === undefined) return new TextDecoder().decode(bytes);
  return decodeAs(bytes, { encoding });
}

type Decode = (content: Uint8Array, options: { readonly encoding: string }) => Thenable<string>;

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
