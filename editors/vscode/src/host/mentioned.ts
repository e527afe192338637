/** What a prompt mentions, as content blocks: read from the editor when the prompt is sent. */

import * as vscode from "vscode";
import type { Completion } from "../chat/bridge";
import { type Mention, mentionOf } from "../chat/mentions";
import type { ContentBlock, EmbeddedResource } from "../protocol/acp";

const FOUND = 20;
/** Diagnostics of one prompt; the agent can ask for more. */
const DIAGNOSTICS = 100;

/** A mention that names nothing stays what it is: words. */
export async function resolveMentions(all: readonly Mention[]): Promise<readonly ContentBlock[]> {
  const found = await Promise.all(all.map(resolve));
  return found.filter((block) => block !== undefined);
}

async function resolve(mention: Mention): Promise<ContentBlock | undefined> {
  switch (mention.kind) {
    case "selection":
      return selection(lastEditor());
    case "diagnostics":
      return diagnostics();
    case "file":
      return file(mention.path);
  }
}

/** The text editor that was used last: the chat's own input is none. */
function lastEditor(): vscode.TextEditor | undefined {
  const isFile = (editor: vscode.TextEditor) => editor.document.uri.scheme === "file";
  const active = vscode.window.activeTextEditor;
  return active !== undefined && isFile(active) ? active : vscode.window.visibleTextEditors.find(isFile);
}

export function selection(editor: vscode.TextEditor | undefined): EmbeddedResource | undefined {
  if (editor === undefined) return undefined;
  const { document, selection: range } = editor;
  const lines = `#L${range.start.line + 1}-L${range.end.line + 1}`;
  const text = range.isEmpty ? document.lineAt(range.start.line).text : document.getText(range);
  return { type: "resource", resource: { uri: `${document.uri.toString()}${lines}`, text } };
}

const SEVERITIES = ["error", "warning", "information", "hint"] as const;

function diagnostics(): EmbeddedResource | undefined {
  const lines = vscode.languages.getDiagnostics().flatMap(([uri, all]) =>
    all.map((one) => {
      const where = `${vscode.workspace.asRelativePath(uri)}:${one.range.start.line + 1}:${one.range.start.character + 1}`;
      return `${where}: ${SEVERITIES[one.severity]}: ${one.message}${one.source === undefined ? "" : ` (${one.source})`}`;
    }),
  );
  if (lines.length === 0) return undefined;
  return { type: "resource", resource: { uri: "vscode:/diagnostics", text: lines.slice(0, DIAGNOSTICS).join("\n") } };
}

async function file(path: string): Promise<ContentBlock | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) return undefined;
  const uri = vscode.Uri.joinPath(folder.uri, path);
  const exists = await vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
  return exists ? { type: "resource_link", uri: uri.toString(), name: path } : undefined;
}

/** What `@` offers: the editor's own words first, then files. */
export async function complete(query: string): Promise<readonly Completion[]> {
  const words: Completion[] = [
    { label: "selection", detail: "The selected text", insert: "@selection" },
    { label: "diagnostics", detail: "Problems in the workspace", insert: "@diagnostics" },
  ];
  const pattern = query === "" ? openPaths() : await findPaths(query);
  const files = pattern.map((path) => ({ label: path, detail: "File", insert: mentionOf(path) }));
  return [...words.filter((word) => word.label.startsWith(query.toLowerCase())), ...files].slice(0, FOUND);
}

function openPaths(): readonly string[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const uris = tabs.flatMap((tab) => (tab.input instanceof vscode.TabInputText ? [tab.input.uri] : []));
  return [
    ...new Set(uris.filter((uri) => uri.scheme === "file").map((uri) => vscode.workspace.asRelativePath(uri, false))),
  ];
}

async function findPaths(query: string): Promise<readonly string[]> {
  const letters = [...query].map((letter) => (/[\w./-]/.test(letter) ? letter : "?")).join("");
  const found = await vscode.workspace.findFiles(`**/*${letters}*`, undefined, FOUND);
  return found.map((uri) => vscode.workspace.asRelativePath(uri, false)).sort((a, b) => a.length - b.length);
}
