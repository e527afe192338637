/** Prompts that commands make of what the editor shows. */

import * as vscode from "vscode";
import { mentionOf } from "../chat/mentions";
import { pathOf } from "./mentioned";

/** Asked for in a box of VS Code's own; undefined when the person thinks better of it. */
export async function askFor(title: string, placeHolder: string): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({ title, placeHolder, ignoreFocusOut: true });
  return text?.trim() === "" ? undefined : text?.trim();
}

/** How a prompt names what is meant: the selection, or the file. */
export function subjectWords(): string {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return "this project";
  return editor.selection.isEmpty ? mentionOf(pathOf(editor.document.uri)) : "@selection";
}

/** The problem a fix is about: the given one, else the first at the cursor, else the first of the file. */
export function diagnosticWords(uri?: vscode.Uri, given?: vscode.Diagnostic): string | undefined {
  const editor = vscode.window.activeTextEditor;
  const where = uri ?? editor?.document.uri;
  if (where === undefined) return undefined;
  const all = vscode.languages.getDiagnostics(where);
  const cursor = editor?.selection.active;
  const problem = given ?? all.find((one) => cursor !== undefined && one.range.contains(cursor)) ?? all[0];
  if (problem === undefined) return undefined;
  return `Fix this problem in ${mentionOf(pathOf(where))}, line ${problem.range.start.line + 1}: ${problem.message}`;
}

/** "Fix with the agent" on every problem, "Rewrite with the agent" on every selection. */
export class Actions implements vscode.CodeActionProvider {
  static readonly kinds = [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.RefactorRewrite];

  provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range | vscode.Selection,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    const fixes = context.diagnostics.map((problem) => {
      const fix = new vscode.CodeAction(`Fix with the agent: ${problem.message}`, vscode.CodeActionKind.QuickFix);
      fix.diagnostics = [problem];
      fix.command = { command: "agent.fix", title: fix.title, arguments: [document.uri, problem] };
      return fix;
    });
    if (range.isEmpty) return fixes;
    const rewrite = new vscode.CodeAction("Rewrite with the agent…", vscode.CodeActionKind.RefactorRewrite);
    rewrite.command = { command: "agent.rewrite", title: rewrite.title };
    return [...fixes, rewrite];
  }
}
