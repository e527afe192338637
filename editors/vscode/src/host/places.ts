/** Which folder a session works in. The others of the workspace are further roots of it. */

import * as vscode from "vscode";
import type { Place } from "../protocol/acp";

export const NO_FOLDER = "The agent works in a folder: open one first.";

/** The workspace's folders that are on a disk. */
export function folders(): readonly vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
}

/** Without asking: the folder of the file in front, else the first. */
export function likelyFolder(): vscode.WorkspaceFolder {
  const inFront = vscode.window.activeTextEditor?.document.uri;
  const found = inFront === undefined ? undefined : vscode.workspace.getWorkspaceFolder(inFront);
  const folder = found?.uri.scheme === "file" ? found : folders()[0];
  if (folder === undefined) throw new Error(NO_FOLDER);
  return folder;
}

/** The person's choice when there are several; undefined when they think better of it. */
export async function chosenFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  if (folders().length <= 1) return likelyFolder();
  return vscode.window.showWorkspaceFolderPick({ placeHolder: "The folder that the session works in" });
}

/** The place of a session, as messages name it. */
export function placeOf(uri: vscode.Uri): Place {
  const others = folders().filter((folder) => folder.uri.toString() !== uri.toString());
  const roots = others.map((folder) => folder.uri.fsPath);
  return { uri: uri.toString(), mcpServers: [], ...(roots.length === 0 ? {} : { additionalDirectories: roots }) };
}

/** What to call it where there are several; null where it goes without saying. */
export function nameOf(uri: vscode.Uri): string | null {
  return folders().length <= 1 ? null : (vscode.workspace.getWorkspaceFolder(uri)?.name ?? uri.fsPath);
}
