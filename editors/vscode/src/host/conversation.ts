/** The sessions this window shows: opened, prompted, followed. Owns their state; the chat view and the status bar watch. */

import * as vscode from "vscode";
import type { PastedImage } from "../chat/bridge";
import type { ChatEvent } from "../chat/events";
import { mentions, promptBlocks } from "../chat/mentions";
import { apply, attachedName } from "../chat/reduce";
import type { ChatState } from "../chat/state";
import { emptyChat } from "../chat/state";
import type { Place, SessionInfo } from "../protocol/acp";
import { readUpdate } from "../protocol/acp";
import type { AgentClient } from "./client";
import { sentence } from "./client";
import { resolveMentions } from "./mentioned";

const REMEMBERED = "agent.session";

export interface Happened {
  readonly sessionId: string;
  readonly event: ChatEvent;
}

export class Conversation implements vscode.Disposable {
  private readonly happened = new vscode.EventEmitter<Happened>();
  private readonly switched = new vscode.EventEmitter<ChatState | undefined>();
  readonly onDidHappen = this.happened.event;
  /** Another session is shown, or none. */
  readonly onDidSwitch = this.switched.event;
  private readonly chats = new Map<string, ChatState>();
  private currentId: string | null = null;
  private opening: Promise<string> | undefined;
  private sent = 0;

  constructor(
    private readonly running: () => Promise<AgentClient>,
    private readonly memory: vscode.Memento,
  ) {}

  get current(): ChatState | undefined {
    return this.currentId === null ? undefined : this.chats.get(this.currentId);
  }

  /** Hear what a client says. */
  follow(client: AgentClient): void {
    client.heard("agent/session/update", ({ sessionId, turnId, update }) => {
      const told = readUpdate(update);
      if (told !== undefined) {
        this.dispatch(sessionId, { kind: "update", update: told, live: turnId !== null, at: Date.now() });
      }
    });
    client.heard("agent/status", (status) => {
      this.dispatch(status.sessionId, { kind: "status", status, at: Date.now() });
    });
  }

  dispatch(sessionId: string, event: ChatEvent): void {
    const chat = this.chats.get(sessionId);
    if (chat === undefined) return;
    this.chats.set(sessionId, apply(chat, event));
    this.happened.fire({ sessionId, event });
  }

  // ---- sessions ----------------------------------------------------------------------------------

  /** The session that is shown: the remembered one, else a new one. */
  async open(): Promise<string> {
    if (this.currentId !== null) return this.currentId;
    this.opening ??= this.openFirst().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async openFirst(): Promise<string> {
    const remembered = this.memory.get<string>(REMEMBERED);
    if (remembered !== undefined) {
      try {
        return await this.load(remembered);
      } catch {
        // Deleted, or of another machine: nothing to go on with.
        await this.memory.update(REMEMBERED, undefined);
      }
    }
    return this.begin();
  }

  /** A fresh session, shown from now on. */
  async begin(): Promise<string> {
    const client = await this.running();
    const session = await client.ask("agent/session/new", place());
    this.chats.set(session.sessionId, emptyChat(session.sessionId));
    this.dispatch(session.sessionId, { kind: "opened", session });
    return this.show(session.sessionId);
  }

  /** Show a session: as it is known here, else from the store. */
  async load(sessionId: string): Promise<string> {
    if (this.chats.has(sessionId)) return this.show(sessionId);
    const client = await this.running();
    this.chats.set(sessionId, emptyChat(sessionId));
    try {
      const session = await client.ask("agent/session/load", { ...place(), sessionId });
      this.dispatch(sessionId, { kind: "opened", session });
    } catch (error) {
      this.chats.delete(sessionId);
      throw error;
    }
    return this.show(sessionId);
  }

  /** Show a session as it is stored, whatever is known of it here. */
  async reload(sessionId: string): Promise<string> {
    this.chats.delete(sessionId);
    return this.load(sessionId);
  }

  async fork(): Promise<string> {
    const from = await this.open();
    const client = await this.running();
    const session = await client.ask("agent/session/fork", { ...place(), sessionId: from });
    const known = this.chats.get(from) ?? emptyChat(from);
    this.chats.set(session.sessionId, { ...known, sessionId: session.sessionId, waiting: [] });
    this.dispatch(session.sessionId, { kind: "opened", session });
    return this.show(session.sessionId);
  }

  async list(): Promise<readonly SessionInfo[]> {
    const client = await this.running();
    return (await client.ask("agent/session/list", { uri: place().uri })).sessions;
  }

  async delete(sessionId: string): Promise<void> {
    const client = await this.running();
    await client.ask("agent/session/delete", { sessionId });
    this.chats.delete(sessionId);
    if (this.currentId === sessionId) {
      this.currentId = null;
      await this.begin();
    }
  }

  private async show(sessionId: string): Promise<string> {
    this.currentId = sessionId;
    await this.memory.update(REMEMBERED, sessionId);
    this.switched.fire(this.chats.get(sessionId));
    return sessionId;
  }

  /** The process is gone, and all that ran in it. */
  lost(): void {
    for (const sessionId of this.chats.keys()) this.dispatch(sessionId, { kind: "lost" });
  }

  /** A new process knows of no session: take up the one that is shown, and forget the others until they are asked for. */
  async takeUp(client: AgentClient): Promise<void> {
    const shown = this.current;
    for (const sessionId of this.chats.keys()) if (sessionId !== shown?.sessionId) this.chats.delete(sessionId);
    if (shown === undefined) return;
    const session = await client.ask("agent/session/resume", { ...place(), sessionId: shown.sessionId });
    this.dispatch(shown.sessionId, { kind: "opened", session });
  }

  // ---- turns -------------------------------------------------------------------------------------

  /** Prompt the shown session. Returns once the prompt is on its way; what comes of it is events. */
  async prompt(text: string, images: readonly PastedImage[] = []): Promise<void> {
    const sessionId = await this.open();
    const client = await this.running();
    const pictures = images.map((image) => ({ type: "image", ...image }) as const);
    const blocks = [...(await resolveMentions(mentions(text))), ...pictures];
    const waiting = { id: `prompt-${++this.sent}`, text, attached: blocks.map(attachedName) };
    this.dispatch(sessionId, { kind: "prompted", waiting });
    client.ask("agent/session/prompt", { sessionId, prompt: promptBlocks(text, blocks) }).then(
      (result) => this.dispatch(sessionId, { kind: "answered", waitingId: waiting.id, result, at: Date.now() }),
      (error) => {
        const message = client.isRunning() ? sentence(error) : "The server stopped before it answered";
        this.dispatch(sessionId, { kind: "failed", waitingId: waiting.id, message });
      },
    );
  }

  /** Say something that the running turn hears at its next step; a turn of its own when none runs any more. */
  async steer(text: string): Promise<void> {
    const chat = this.current;
    if (chat?.status.turnId == null || !chat.status.busy) return this.prompt(text);
    const client = await this.running();
    const prompt = promptBlocks(text, await resolveMentions(mentions(text)));
    const { sessionId, status } = chat;
    await client.ask("agent/session/steer", { sessionId, mode: "steer", prompt, expectedTurnId: status.turnId });
  }

  async cancel(): Promise<void> {
    if (this.currentId === null) return;
    const client = await this.running();
    await client.tell("agent/session/cancel", { sessionId: this.currentId });
  }

  /** Take back the last edit, or all edits of the last turn that made any. */
  async undo(turn: boolean): Promise<void> {
    const sessionId = await this.open();
    const client = await this.running();
    await client.command("agent.undo", { sessionId, turn });
  }

  async setMode(modeId: string): Promise<void> {
    const sessionId = await this.open();
    const client = await this.running();
    await client.ask("agent/session/set_mode", { sessionId, modeId });
    const update = { sessionUpdate: "current_mode_update", currentModeId: modeId } as const;
    this.dispatch(sessionId, { kind: "update", update, live: false, at: Date.now() });
  }

  async setOption(configId: string, value: string): Promise<void> {
    const sessionId = await this.open();
    const client = await this.running();
    const { configOptions } = await client.ask("agent/session/set_config_option", { sessionId, configId, value });
    const update = { sessionUpdate: "config_option_update", configOptions } as const;
    this.dispatch(sessionId, { kind: "update", update, live: false, at: Date.now() });
  }

  dispose(): void {
    this.happened.dispose();
    this.switched.dispose();
  }
}

/** Sessions work in the first folder. */
function place(): Place {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) throw new Error("The agent works in a folder: open one first.");
  return { uri: folder.uri.toString(), mcpServers: [] };
}
