/** A session as a document: the server's own program makes it, with credentials masked, and writes it to a file. */

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { exportName } from "../chat/words";

const run = promisify(execFile);
/** Reading a long session takes seconds at most. */
const EXPORT_MS = 60_000;

type Format = "md" | "json" | "html";

const CHOICES: readonly (vscode.QuickPickItem & { readonly format: Format; readonly open: boolean })[] = [
  { label: "Open as Markdown", detail: "In an editor, to read or to copy from", format: "md", open: true },
  { label: "Save as Markdown…", format: "md", open: false },
  { label: "Save as a web page…", detail: "One file, without scripts", format: "html", open: false },
  { label: "Save as JSON…", detail: "Every prompt, answer and tool call as data", format: "json", open: false },
];

export interface Exported {
  readonly sessionId: string;
  readonly title: string | null;
}

/** Ask how, and do it. `program` is the server's. */
export async function exportSession(program: string, session: Exported): Promise<void> {
  const chosen = await vscode.window.showQuickPick(CHOICES, { title: `Export: ${session.title ?? "Untitled"}` });
  if (chosen === undefined) return;
  if (chosen.open) return openDocument(program, session.sessionId);
  const target = await askWhere(exportName(session.title, chosen.format), chosen.format);
  if (target === undefined) return;
  await write(program, session.sessionId, chosen.format, target.fsPath);
  const open = "Open";
  const wanted = await vscode.window.showInformationMessage(`The session is in ${target.fsPath}`, open);
  if (wanted === open) await vscode.commands.executeCommand("vscode.open", target);
}

async function openDocument(program: string, sessionId: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "agent-export-"));
  try {
    const file = path.join(folder, "session.md");
    await write(program, sessionId, "md", file);
    const content = new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(file)));
    const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
    await vscode.window.showTextDocument(document);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const NAMES: { readonly [Form in Format]: string } = { md: "Markdown", json: "JSON", html: "Web page" };

async function askWhere(name: string, format: Format): Promise<vscode.Uri | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return vscode.window.showSaveDialog({
    title: "Export the session",
    filters: { [NAMES[format]]: [format] },
    ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, name) }),
  });
}

async function write(program: string, sessionId: string, format: Format, file: string): Promise<void> {
  const args = ["sessions", "export", sessionId, "--format", format, "--output", file];
  try {
    await run(program, args, { timeout: EXPORT_MS });
  } catch (error) {
    const said = (error as { readonly stderr?: string }).stderr?.trim().split("\n").at(-1) ?? "";
    throw new Error(`The session could not be exported. ${said || String(error)}`);
  }
}
