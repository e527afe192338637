/** One item: idle, busy with what, waiting for the person, or in trouble. */

import * as vscode from "vscode";
import type { ServerState } from "../chat/bridge";
import { printableLine } from "../chat/printable";
import type { Conversation } from "./conversation";
import type { Permissions } from "./permissions";
import type { Reviews } from "./reviews";
import type { Server } from "./server";

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("agent.status", vscode.StatusBarAlignment.Right, 100);
  private readonly watched: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly conversation: Conversation,
    private readonly permissions: Permissions,
    private readonly reviews: Reviews,
  ) {
    this.item.name = "Agent";
    this.watched = [
      server.onDidChange(() => this.show()),
      conversation.onDidHappen(({ event }) => {
        if (event.kind !== "update") this.show();
      }),
      conversation.onDidSwitch(() => this.show()),
      permissions.onDidChange(() => this.show()),
      reviews.onDidChange(() => this.show()),
    ];
    this.show();
    this.item.show();
  }

  private show(): void {
    const { text, tooltip, command, warn } = this.words();
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.backgroundColor = warn ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.item.accessibilityInformation = { label: text.replaceAll(/\$\([^)]*\)/g, "").trim() };
    const busy = this.conversation.current?.status.busy ?? false;
    void vscode.commands.executeCommand("setContext", "agent.busy", busy);
    void vscode.commands.executeCommand("setContext", "agent.asked", this.permissions.waiting.length > 0);
  }

  private words() {
    const trouble = troubleOf(this.server.state);
    if (trouble !== null) {
      return { text: "$(warning) Agent: not running", tooltip: trouble, command: "agent.open", warn: true };
    }
    const { waiting } = this.permissions;
    if (waiting.length > 0) {
      const text = "$(question) Agent: waiting for you";
      const questions = waiting.map((one) => printableLine(`${this.permissions.nameOf(one)}: ${one.title}`));
      return { text, tooltip: ["Show the question", ...questions].join("\n"), command: "agent.answer", warn: true };
    }
    if (this.reviews.open.length > 0) {
      const text = "$(question) Agent: edit to review";
      return { text, tooltip: "Review the proposed edit", command: "agent.review", warn: true };
    }
    const status = this.conversation.current?.status;
    if (status?.busy === true) {
      const text = `$(sync~spin) Agent: ${status.state}`;
      return { text, tooltip: status.label, command: "agent.open", warn: false };
    }
    return { text: "$(sparkle) Agent", tooltip: "Open the agent's chat", command: "agent.open", warn: false };
  }

  dispose(): void {
    this.item.dispose();
    for (const one of this.watched) one.dispose();
  }
}

/** What is in the way, for the status bar; null when nothing is. */
function troubleOf(state: ServerState): string | null {
  switch (state.kind) {
    case "missing":
    case "failed":
    case "restarting":
      return state.message;
    case "idle":
    case "starting":
    case "ready":
    case "noFolder":
    case "installing":
      return null;
  }
}
