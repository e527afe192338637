/** What the server asks about the editor itself: where the person is, and what they have open. */

import * as vscode from "vscode";
import type { EditorFiles, EditorSelection } from "../protocol/messages";

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

/** The files in tabs, each once. */
export async function openFiles(): Promise<EditorFiles> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const files = new Map(
    tabs.flatMap((tab) =>
      tab.input instanceof vscode.TabInputText && tab.input.uri.scheme === "file"
        ? [[tab.input.uri.toString(), tab.isDirty] as const]
        : [],
    ),
  );
  return { files: [...files].map(([uri, dirty]) => ({ uri, dirty })) };
}
