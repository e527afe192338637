/** Wires the parts together, and takes them apart. */

import * as vscode from "vscode";
import { Actions } from "./host/asking";
import { CHAT_VIEW, ChatView } from "./host/chatView";
import type { AgentClient } from "./host/client";
import { registerCommands } from "./host/commands";
import { Conflicts } from "./host/conflicts";
import { Conversation } from "./host/conversation";
import { Diffs } from "./host/diffs";
import { applyEdit, diagnosticsOf, saveDocument } from "./host/documents";
import { GoingBack } from "./host/goingBack";
import { Gutter } from "./host/gutter";
import { Installer } from "./host/installer";
import { Lenses } from "./host/lenses";
import { openFiles, selectionNow } from "./host/looking";
import { Mentioned } from "./host/mentioned";
import { Permissions } from "./host/permissions";
import { Previews } from "./host/previews";
import { Doctor } from "./host/programs";
import { ProposalTree } from "./host/proposalTree";
import { BASE, PROPOSAL, ProposedFiles } from "./host/proposedFiles";
import { reloadDocuments } from "./host/reloading";
import { Reviewing } from "./host/reviewing";
import { Reviews } from "./host/reviews";
import { RightSides } from "./host/rightSides";
import { Seen } from "./host/seen";
import { Server } from "./host/server";
import { needsRestart } from "./host/settings";
import { StatusBar } from "./host/statusBar";
import { Terminals } from "./host/terminals";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Agent", { log: true });
  const wire = (client: AgentClient) => {
    conversation.follow(client);
    reviews.follow(client);
    client.asked("agent/session/request_permission", (request, token) => permissions.ask(request, token));
    client.asked("agent/ask", (request, token) => permissions.askModel(request, token));
    client.asked("agent/edit/apply", applyEdit);
    client.asked("agent/editor/save", saveDocument);
    client.asked("agent/editor/reload", reloadDocuments);
    client.asked("agent/editor/diagnostics", diagnosticsOf);
    client.asked("agent/editor/selection", selectionNow);
    client.asked("agent/editor/openFiles", openFiles);
    client.asked("agent/editor/openDiff", (wanted) => reviewing.open(wanted));
  };
  const server = new Server(log, new Installer(context), wire, (client) => conversation.takeUp(client));
  const running = () => server.running();
  const terminals = new Terminals();
  const mentioned = new Mentioned(terminals);
  const conversation = new Conversation(running, context.workspaceState, mentioned);
  const reviews = new Reviews(running);
  const permissions = new Permissions(
    conversation,
    (sessionId) => chat.visible && conversation.current?.sessionId === sessionId,
    (question) => chat.revealQuestion(question),
  );
  const seen = new Seen(reviews, conversation);
  const extension = context.extensionUri;
  const chat = new ChatView({ extension, server, conversation, permissions, reviews, mentioned, seen });
  const files = new ProposedFiles(reviews);
  const previews = new Previews();
  const sides = new RightSides(reviews, files, log);
  const diffs = new Diffs(reviews, sides, seen, () => chat.focused);
  const reviewing = new Reviewing({ reviews, sides, diffs, conflicts: new Conflicts(reviews, previews), seen });
  const goingBack = new GoingBack({ running, conversation, reviews, previews });
  const lenses = new Lenses(reviews, seen);
  const doctor = new Doctor(server);

  context.subscriptions.push(
    log,
    server,
    terminals,
    conversation,
    reviews,
    seen,
    permissions,
    chat,
    previews,
    sides,
    reviewing,
    new Gutter(reviews, context.extensionUri),
    lenses,
    doctor,
    lenses.register(),
    new ProposalTree(reviews, seen),
    new StatusBar(server, conversation, permissions, reviews),
    registerCommands({ server, conversation, chat, permissions, diffs, reviewing, goingBack, doctor, log }),
    vscode.window.registerWebviewViewProvider(CHAT_VIEW, chat),
    vscode.workspace.registerTextDocumentContentProvider(BASE, files),
    vscode.workspace.registerFileSystemProvider(PROPOSAL, files, { isCaseSensitive: true }),
    vscode.languages.registerCodeActionsProvider({ scheme: "file" }, new Actions(), {
      providedCodeActionKinds: Actions.kinds,
    }),
    server.onDidChange((state) => {
      if (state.kind === "ready" || state.kind === "starting") return;
      conversation.lost();
      permissions.lost();
      reviews.dispatch({ kind: "lost" });
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (needsRestart(change) && server.live !== undefined) void offerRestart();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      if (server.live !== undefined) void vscode.commands.executeCommand("agent.restart");
    }),
  );
}

async function offerRestart(): Promise<void> {
  const restart = "Restart";
  const chosen = await vscode.window.showInformationMessage(
    "The agent's server uses the new settings once it restarts.",
    restart,
  );
  if (chosen === restart) await vscode.commands.executeCommand("agent.restart");
}
