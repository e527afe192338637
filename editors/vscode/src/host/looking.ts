/** What the server asks about the editor itself: where the person is, and what they have open. */

import * as vscode from "vscode";
import type { EditorFile, EditorFiles, EditorSelection } from "../protocol/messages";

/** The text editor that was used last: the chat's own input is none. */
export function lastEditor(): vscode.TextEditor | undefined {
  const isFile = (editor: vscode.TextEditor) => editor.document.uri.scheme === "file";
  const active = vscode.window.activeTextEditor;
  return active !== undefined && isFile(active) ? active : vscode.window.visibleTextEditors.find(isFile);
}

export async function selectionNow(): Promise<EditorSelection> {
  const editor = lastEditor();
  if (editor === undefined) return { uri: null };
  const { document, selection } = editor;
  const place = ({ line, character }: vscode.Position) => ({ line, character });
  return {
    uri: document.uri.toString(),
    range: { start: place(selection.start), end: place(selection.end) },
    text: document.getText(selection),
  };
}

/**
 * The files in tabs, each once, and notebooks that are open without one. What holds a file as something else than text
 * comes last, so that it counts where both do.
 */
export async function openFiles(): Promise<EditorFiles> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.flatMap(fileOf));
  const notebooks = vscode.workspace.notebookDocuments.map((one) => fileAt(one.uri, one.isDirty, "notebook"));
  const found = [...tabs, ...notebooks.flat()];
  const inOrder = [...found.filter(({ kind }) => kind === "text"), ...found.filter(({ kind }) => kind !== "text")];
  return { files: [...new Map(inOrder.map((file) => [file.uri, file])).values()] };
}

function fileOf({ input, isDirty }: vscode.Tab): EditorFile[] {
  if (input instanceof vscode.TabInputText) return fileAt(input.uri, isDirty, "text");
  if (input instanceof vscode.TabInputNotebook) return fileAt(input.uri, isDirty, "notebook");
  return input instanceof vscode.TabInputCustom ? fileAt(input.uri, isDirty, "custom") : [];
}

function fileAt(uri: vscode.Uri, dirty: boolean, kind: EditorFile["kind"] & string): EditorFile[] {
  return uri.scheme === "file" ? [{ uri: uri.toString(), dirty, kind }] : [];
}
