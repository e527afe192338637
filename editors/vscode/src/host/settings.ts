/** The extension's settings, read when they are needed. */

import * as vscode from "vscode";

export interface Settings {
  /** A path or a name on PATH; empty: not set. */
  readonly command: string;
  readonly logLevel: string;
  readonly model: string;
  readonly mode: string;
  readonly openReview: "auto" | "never";
  /** When edits are reviewed; empty: as the server is configured. */
  readonly reviewWhen: "" | "each" | "turn";
  readonly notifyWhenHidden: boolean;
  readonly python: string;
}

export function settings(): Settings {
  const agent = vscode.workspace.getConfiguration("agent");
  return {
    command: agent.get("server.command", "").trim(),
    logLevel: agent.get("server.logLevel", "warning"),
    python: agent.get("server.python", "").trim(),
    model: agent.get("model", "").trim(),
    mode: agent.get("mode", ""),
    openReview: agent.get("review.open", "auto"),
    reviewWhen: agent.get("review.when", ""),
    notifyWhenHidden: agent.get("permission.notifyWhenHidden", true),
  };
}

/** Those that a server is started with. */
export function needsRestart(change: vscode.ConfigurationChangeEvent): boolean {
  return ["agent.server", "agent.model", "agent.mode", "agent.review.when"].some((name) =>
    change.affectsConfiguration(name),
  );
}
