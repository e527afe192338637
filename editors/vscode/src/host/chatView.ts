/** The chat in the side bar: a page with nothing remote in it. Sends it what happens, and does what its buttons say. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { FromView, ToView } from "../chat/bridge";
import { VIEW_COMMANDS } from "../chat/bridge";
import type { ChatEvent } from "../chat/events";
import { applyWords } from "../chat/mentions";
import { printableLine } from "../chat/printable";
import type { SessionInfo } from "../protocol/acp";
import { summarise } from "../review/shown";
import { choose } from "./choosing";
import { sentence } from "./client";
import type { Conversation, Happened } from "./conversation";
import { lastEditor } from "./looking";
import { type Mentioned, meant, pathOf } from "./mentioned";
import { noticeText } from "./notices";
import type { Permissions, Waiting } from "./permissions";
import { NO_FOLDER } from "./places";
import type { Reviews } from "./reviews";
import type { Seen } from "./seen";
import type { Server } from "./server";

export const CHAT_VIEW = "agent.chat";
/** Milliseconds in which a chat that was visible before the window was reloaded comes back, once VS Code answers. */
const RESTORE_MS = 1_000;
/** Events are sent together this often: a message costs more than what is in it. */
const BATCH_MS = 16;

/** What the commands on all edits are given by the chat: it means those of its session. */
export const OF_CHAT = "chat";
const FOCUS: ToView = { kind: "compose", text: "", keep: true };

interface Parts {
  readonly extension: vscode.Uri;
  readonly server: Server;
  readonly conversation: Conversation;
  readonly permissions: Permissions;
  readonly reviews: Reviews;
  readonly mentioned: Mentioned;
  readonly seen: Seen;
}

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private batch: ChatEvent[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** What the page does with the keyboard once it is there. */
  private wanted: ToView | undefined;
  /** The page hears what is posted. */
  private listens = false;
  private hasKeyboard = false;
  /** What becomes visible now was visible before, and not opened by the user. */
  private restoring = true;
  private readonly watched: vscode.Disposable[];

  constructor(private readonly parts: Parts) {
    this.watched = [
      parts.conversation.onDidHappen((happened) => this.collect(happened)),
      parts.conversation.onDidSwitch(() => this.snapshot()),
      parts.conversation.onDidReturn((text) => this.post({ kind: "compose", text, keep: true })),
      parts.server.onDidChange((server) => this.post({ kind: "server", server })),
      parts.reviews.onDidChange(() => this.post({ kind: "review", review: this.review() })),
    ];
    void this.restored();
  }

  private async restored(): Promise<void> {
    await vscode.commands.executeCommand("setContext", "agent.busy", false);
    setTimeout(() => {
      this.restoring = false;
    }, RESTORE_MS);
  }

  /** Whether the user types here, and so in no editor. */
  get focused(): boolean {
    return this.visible && this.listens && this.hasKeyboard;
  }

  get visible(): boolean {
    return this.view?.visible ?? false;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    // VS Code has put the keyboard into a page that was not there yet.
    if (!this.restoring) this.wanted ??= FOCUS;
    const dist = vscode.Uri.joinPath(this.parts.extension, "dist");
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.html = page(view.webview, dist);
    view.webview.onDidReceiveMessage((message: FromView) => {
      this.receive(message).catch((error) => void vscode.window.showErrorMessage(noticeText(sentence(error))));
    });
    view.onDidChangeVisibility(() => {
      if (!view.visible) this.listens = this.hasKeyboard = false; // its page goes with it
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.listens = false;
    });
  }

  /** Bring the chat into view, with the keyboard in its input; with `text`, put that there. */
  reveal(text = ""): Promise<void> {
    return this.bring({ kind: "compose", text, keep: false });
  }

  /** Bring a question into view: that of its session, with the keyboard on its card and on none of its buttons. */
  async revealQuestion({ id, sessionId }: Waiting): Promise<void> {
    const { conversation } = this.parts;
    if (conversation.current?.sessionId !== sessionId) await conversation.load(sessionId);
    await this.bring({ kind: "showQuestion", id });
  }

  private async bring(wanted: ToView): Promise<void> {
    this.wanted = wanted;
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    if (this.visible && this.listens) this.place();
  }

  // ---- to the page -------------------------------------------------------------------------------

  private collect({ sessionId, event }: Happened): void {
    if (sessionId !== this.parts.conversation.current?.sessionId) return;
    this.batch.push(event);
    this.timer ??= setTimeout(() => this.flush(), BATCH_MS);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const sessionId = this.parts.conversation.current?.sessionId;
    const events = this.batch;
    this.batch = [];
    if (sessionId !== undefined && events.length > 0) this.post({ kind: "events", sessionId, events });
  }

  /** Everything, as it is now: what was waiting to be sent is in it. */
  private snapshot(): void {
    this.batch = [];
    const chat = this.parts.conversation.current ?? null;
    this.post({ kind: "snapshot", server: this.parts.server.state, chat, review: this.review() });
  }

  private place(): void {
    if (this.wanted === undefined) return;
    this.post(this.wanted);
    this.wanted = undefined;
  }

  private review() {
    const { reviews, conversation, seen } = this.parts;
    return summarise(reviews.all, conversation.current?.sessionId ?? null, (...one) => seen.place(...one));
  }

  private post(message: ToView): void {
    void this.view?.webview.postMessage(message);
  }

  // ---- from the page -----------------------------------------------------------------------------

  private async receive(message: FromView): Promise<void> {
    const { conversation, permissions, mentioned } = this.parts;
    switch (message.kind) {
      case "ready":
        this.listens = true;
        this.snapshot();
        this.place();
        return this.open();
      case "focus":
        this.hasKeyboard = message.isHere;
        return;
      case "send":
        return message.how === "prompt"
          ? conversation.prompt(message.text, message.images)
          : conversation.steer(message.how, message.text, message.images);
      case "withdraw":
        return conversation.withdraw(message.waitingId);
      case "stop":
        return conversation.cancel();
      case "answer":
        return permissions.answer(message.id, message.optionId, message.feedback);
      case "tell":
        return permissions.tell(message.id, message.words);
      case "setMode":
        return conversation.setMode(message.modeId);
      case "setOption":
        return conversation.setOption(message.configId, message.value);
      case "listSessions":
        return this.listSessions();
      case "openSession":
        await conversation.load(message.sessionId);
        return;
      case "forkSession":
        await conversation.fork(message.sessionId);
        return;
      case "exportSession":
        await vscode.commands.executeCommand("agent.exportSession", message.sessionId);
        return;
      case "deleteSession":
        return this.deleteSession(message.sessionId);
      case "complete":
        return this.post({ kind: "completions", query: message.query, found: await mentioned.complete(message.query) });
      case "copy":
        return vscode.env.clipboard.writeText(message.text);
      case "insert":
        return insertAtCursor(message.text);
      case "applyCode":
        return this.applyCode(message.text);
      case "revertEdit":
        return this.revert(message.toolCallId);
      case "openFile":
        return openFile(message.path, message.line);
      case "openLink":
        return openLink(message.href);
      case "command":
        if (VIEW_COMMANDS.includes(message.command))
          await vscode.commands.executeCommand(message.command, ...given(message));
        return;
    }
  }

  /** A chat that is seen has a server and a session; why it has none is in the server's state. */
  private async open(): Promise<void> {
    await this.parts.conversation.open().catch((error) => {
      if (this.parts.server.state.kind === "ready") throw error;
    });
  }

  private async applyCode(code: string): Promise<void> {
    const editor = lastEditor();
    if (editor === undefined)
      await vscode.window.showInformationMessage("Open a file first: the code is applied to it.");
    else await this.parts.conversation.prompt(applyWords(pathOf(editor.document.uri), code));
  }

  private async deleteSession(sessionId: string): Promise<void> {
    const { conversation } = this.parts;
    const sessions = await conversation.list();
    const title = sessions.find((one) => one.sessionId === sessionId)?.title ?? "Untitled";
    const yes = { label: "Delete it", detail: "Its conversation is forgotten; files stay as they are." };
    const asked = { title: `Delete “${printableLine(title)}”?`, nothing: "Keep it" };
    if ((await choose([yes], asked)) === undefined) return;
    // Gone from the list at once: nobody can open what is being deleted.
    this.postSessions(sessions.filter((one) => one.sessionId !== sessionId));
    try {
      await conversation.delete(sessionId);
    } finally {
      await this.listSessions();
    }
  }

  private async revert(toolCallId: string): Promise<void> {
    const edit = [...this.parts.reviews.all.values()].find((review) => review.toolCallId === toolCallId);
    if (edit !== undefined) await vscode.commands.executeCommand("agent.revert", { txn: edit.txn });
    else throw new Error("This edit was made before this window was opened. “Go back to a checkpoint…” can undo it.");
  }

  private async listSessions(): Promise<void> {
    this.postSessions(await this.parts.conversation.list());
  }

  private postSessions(sessions: readonly SessionInfo[]): void {
    this.post({ kind: "sessions", sessions, current: this.parts.conversation.current?.sessionId ?? null });
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.watched) one.dispose();
  }
}

/** The bar above the input decides on what it counts. */
function given({ command }: Extract<FromView, { readonly kind: "command" }>): readonly string[] {
  return command === "agent.acceptAll" || command === "agent.rejectAll" ? [OF_CHAT] : [];
}

async function insertAtCursor(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (editor === undefined) {
    await vscode.window.showInformationMessage("Open a file first: the code is inserted at its cursor.");
    return;
  }
  await editor.edit((edit) => edit.replace(editor.selection, text));
}

async function openFile(path: string, line: number | null): Promise<void> {
  const isAbsolute = /^([/\\]|[A-Za-z]:)/.test(path);
  const uri = isAbsolute ? vscode.Uri.file(path) : await existing(meant(path));
  const at = Math.max(0, (line ?? 1) - 1);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(at, 0, at, 0), preview: true });
}

/** The first that is there; else the first, so that VS Code says what is missing. */
async function existing(uris: readonly vscode.Uri[]): Promise<vscode.Uri> {
  for (const uri of uris) {
    const stat = await vscode.workspace.fs.stat(uri).then(
      () => true,
      () => false,
    );
    if (stat) return uri;
  }
  const [first] = uris;
  if (first === undefined) throw new Error(NO_FOLDER);
  return first;
}

/** Web links only, and VS Code asks first. */
async function openLink(href: string): Promise<void> {
  if (/^https?:\/\//.test(href)) await vscode.env.openExternal(vscode.Uri.parse(href));
  else await openFile(href.replace(/[:#]L?\d+.*$/, ""), Number(/[:#]L?(\d+)/.exec(href)?.[1] ?? 1));
}

function page(webview: vscode.Webview, dist: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64");
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    "img-src data:",
    `script-src 'nonce-${nonce}'`,
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="stylesheet" href="${file("codicon.css")}">
  <link rel="stylesheet" href="${file("chat.css")}">
  <title>Agent</title>
</head>
<body>
  <div id="chat"></div>
  <script nonce="${nonce}" src="${file("chat.js")}"></script>
</body>
</html>`;
}
