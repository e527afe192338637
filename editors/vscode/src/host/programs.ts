/** The server program's own commands, for the user to see: `doctor` as a document that stays, `demo` in a terminal that stays. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { printable } from "../chat/printable";
import { folders } from "./places";
import type { Server } from "./server";

const SCHEME = "agent-doctor";
const DOCUMENT = vscode.Uri.from({ scheme: SCHEME, path: "/Agent: doctor.txt" });
/** It asks nobody who takes longer. */
const DOCTOR_MS = 60_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** The doctor's report: made whenever its document is opened, and anew by the command. */
export class Doctor implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  constructor(private readonly server: Server) {}

  async show(): Promise<void> {
    const isOpen = vscode.workspace.textDocuments.some((one) => one.uri.scheme === SCHEME);
    if (isOpen) this.changed.fire(DOCUMENT);
    await vscode.window.showTextDocument(DOCUMENT, { preview: false });
  }

  async provideTextDocumentContent(): Promise<string> {
    const found = this.server.find();
    if (found.kind === "missing") return `${found.message}\n`;
    return `${found.command} doctor\n\n${printable(await output(found.command, ["doctor"]))}`;
  }

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }
}

/** What a program says on both channels, and how it failed where it did. */
function output(command: string, args: readonly string[]): Promise<string> {
  const cwd = folders()[0]?.uri.fsPath;
  const env = { ...process.env, NO_COLOR: "1" };
  const options = { timeout: DOCTOR_MS, maxBuffer: MOST_BYTES, env, ...(cwd === undefined ? {} : { cwd }) };
  return new Promise((resolve) => {
    execFile(command, [...args], options, (error, stdout, stderr) => {
      const said = `${stdout}${stderr}`.trimEnd();
      const ended = error === null ? "" : `\n\n${endOf(error)}`;
      resolve(`${said}${ended}\n`.trimStart());
    });
  });
}

function endOf(error: { readonly message: string; readonly code?: unknown; readonly killed?: boolean }): string {
  if (error.killed === true) return `Stopped: it took longer than ${DOCTOR_MS / 1000} s.`;
  return typeof error.code === "number" ? `It ended with exit code ${error.code}.` : error.message;
}

/** A task's terminal stays when its program has ended. */
export async function showDemo(server: Server): Promise<void> {
  const found = server.find();
  if (found.kind === "missing") throw new Error(found.message);
  const demo = new vscode.Task(
    { type: "process" },
    folders().length === 0 ? vscode.TaskScope.Global : vscode.TaskScope.Workspace,
    "demo",
    "agent-server",
    new vscode.ProcessExecution(found.command, ["demo"]),
    [],
  );
  demo.presentationOptions = { reveal: vscode.TaskRevealKind.Always, focus: true, panel: vscode.TaskPanelKind.New };
  await vscode.tasks.executeTask(demo);
}
