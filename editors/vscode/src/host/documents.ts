/** What the server asks of documents: apply an edit to one that is open, save one, tell what is wrong in them. */

import { createHash } from "node:crypto";
import * as vscode from "vscode";
import type {
  ApplyEdit,
  DiagnosticsReport,
  DiagnosticsRequest,
  DocumentSaved,
  EditApplied,
  SaveDocument,
  WireDiagnostic,
} from "../protocol/messages";

/** As the protocol counts: over the UTF-8 of the text with its own line ends. */
export function contentHash(text: string): string {
  return `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
}

/** The document of a file, where one is open. */
function documentAt(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
}

/** Compare, apply as one step; only a created file is saved. VS Code refuses when the document moves in between. */
export async function applyEdit(wanted: ApplyEdit): Promise<EditApplied> {
  const uri = vscode.Uri.parse(wanted.uri);
  const document = documentAt(uri);
  if (document === undefined) return { outcome: "failed", reason: "the document is not open" };
  if (contentHash(document.getText()) !== wanted.baseHash) {
    return now("stale", document, "the document has changed since");
  }
  switch (wanted.kind ?? "edit") {
    case "edit":
      return (await vscode.workspace.applyEdit(textEdit(wanted))) ? now("applied", document, null) : moved(document);
    case "create":
      return create(wanted, document);
    case "delete":
      return remove(document);
    case "rename":
      return rename(wanted, document);
  }
}

function textEdit(wanted: ApplyEdit): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  for (const { range, newText } of wanted.edits) {
    const { start, end } = range;
    const place = new vscode.Range(start.line, start.character, end.line, end.character);
    edit.replace(vscode.Uri.parse(wanted.uri), place, newText);
  }
  return edit;
}

function moved(document: vscode.TextDocument): EditApplied {
  return now("stale", document, "VS Code did not apply the edit");
}

/** The text into the document of a file that is not there, and the file. */
async function create(wanted: ApplyEdit, document: vscode.TextDocument): Promise<EditApplied> {
  if (!(await vscode.workspace.applyEdit(textEdit(wanted)))) return moved(document);
  if (!(await document.save()) || !(await isThere(document.uri))) {
    // VS Code does not save what is not dirty, such as an empty text.
    if (document.isDirty) return now("failed", document, "VS Code did not save the new file");
    await vscode.workspace.fs.writeFile(document.uri, new TextEncoder().encode(document.getText()));
  }
  return now("applied", document, null);
}

/**
 * The file goes, and what was unsaved of it: that was compared. The text goes in the same step, so that VS Code refuses
 * when somebody types meanwhile.
 */
async function remove(document: vscode.TextDocument): Promise<EditApplied> {
  const edit = new vscode.WorkspaceEdit();
  const { uri } = document;
  if (document.getText() !== "") edit.delete(uri, whole(document));
  edit.deleteFile(uri, { ignoreIfNotExists: true });
  if (!(await vscode.workspace.applyEdit(edit))) return moved(document);
  await closeTabs(uri);
  return { outcome: "applied", version: null, hash: null, reason: null };
}

function whole(document: vscode.TextDocument): vscode.Range {
  return new vscode.Range(new vscode.Position(0, 0), document.lineAt(document.lineCount - 1).range.end);
}

async function closeTabs(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const left = tabs.filter(
    ({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString(),
  );
  if (left.length > 0) await vscode.window.tabGroups.close(left, true);
}

/** The file moves, and the document with it; what was unsaved of it still is. */
async function rename(wanted: ApplyEdit, document: vscode.TextDocument): Promise<EditApplied> {
  if (wanted.newUri == null) return now("failed", document, "no new name was given");
  const target = vscode.Uri.parse(wanted.newUri);
  const edit = textEdit(wanted);
  edit.renameFile(document.uri, target, { overwrite: false });
  if (!(await vscode.workspace.applyEdit(edit))) return moved(document);
  const renamed = documentAt(target) ?? (await vscode.workspace.openTextDocument(target));
  return now("applied", renamed, null);
}

async function isThere(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
}

function now(outcome: EditApplied["outcome"], document: vscode.TextDocument, reason: string | null): EditApplied {
  return { outcome, version: document.version, hash: contentHash(document.getText()), reason };
}

export async function saveDocument({ uri }: SaveDocument): Promise<DocumentSaved> {
  const document = documentAt(vscode.Uri.parse(uri));
  return { saved: document !== undefined && (await document.save()) };
}

/** The problems that VS Code knows of: of those documents, or of all. */
export async function diagnosticsOf({ uris }: DiagnosticsRequest): Promise<DiagnosticsReport> {
  const wanted = uris?.map((uri) => vscode.Uri.parse(uri)) ?? vscode.languages.getDiagnostics().map(([uri]) => uri);
  const items = wanted.map((uri) => ({
    uri: uri.toString(),
    diagnostics: vscode.languages.getDiagnostics(uri).map(onWire),
  }));
  return { items };
}

function onWire(problem: vscode.Diagnostic): WireDiagnostic {
  const { range, severity, message, source, code } = problem;
  const place = ({ line, character }: vscode.Position) => ({ line, character });
  return {
    range: { start: place(range.start), end: place(range.end) },
    severity: SEVERITIES[severity],
    message,
    source: source ?? null,
    code: typeof code === "object" ? code.value : (code ?? null),
  };
}

/** VS Code's severities as LSP's. */
const SEVERITIES = { 0: 1, 1: 2, 2: 3, 3: 4 } as const;
