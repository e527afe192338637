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

/** Compare, apply as one undo step, do not save. VS Code itself refuses when the document moves in between. */
export async function applyEdit(wanted: ApplyEdit): Promise<EditApplied> {
  const uri = vscode.Uri.parse(wanted.uri);
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (document === undefined) return { outcome: "failed", reason: "the document is not open" };
  if (contentHash(document.getText()) !== wanted.baseHash) {
    return now("stale", document, "the document has changed since");
  }
  const edit = new vscode.WorkspaceEdit();
  for (const { range, newText } of wanted.edits) {
    const { start, end } = range;
    edit.replace(uri, new vscode.Range(start.line, start.character, end.line, end.character), newText);
  }
  const applied = await vscode.workspace.applyEdit(edit);
  return applied ? now("applied", document, null) : now("stale", document, "VS Code did not apply the edit");
}

function now(outcome: EditApplied["outcome"], document: vscode.TextDocument, reason: string | null): EditApplied {
  return { outcome, version: document.version, hash: contentHash(document.getText()), reason };
}

export async function saveDocument({ uri }: SaveDocument): Promise<DocumentSaved> {
  const wanted = vscode.Uri.parse(uri).toString();
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === wanted);
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
