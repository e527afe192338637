/** The one handle to the host that VS Code gives a page. */

import type { FromView } from "../chat/bridge";

interface VsCode {
  postMessage(message: FromView): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCode;

const vscode = acquireVsCodeApi();

export function send(message: FromView): void {
  vscode.postMessage(message);
}

/** The unsent prompt outlives the page. */
export function savedDraft(): string {
  const saved = vscode.getState() as { readonly draft?: unknown } | undefined;
  return typeof saved?.draft === "string" ? saved.draft : "";
}

export function saveDraft(draft: string): void {
  vscode.setState({ draft });
}
