/** The sessions this window shows: opened, prompted, followed. Owns their state; the chat view and the status bar watch. */

import * as vscode from "vscode";
import type { PastedImage } from "../chat/bridge";
import type { ChatEvent } from "../chat/events";
import { mentions, promptBlocks, textIn } from "../chat/mentions";
import { OneByOne } from "../chat/oneByOne";
import { apply, attachedName } from "../chat/reduce";
import type { ChatState, Waiting } from "../chat/state";
import { emptyChat } from "../chat/state";
import type { Place, SessionInfo } from "../protocol/acp";
import { readUpdate } from "../protocol/acp";
import type { PromptResult } from "../protocol/messages";
import type { AgentClient } from "./client";
import { sentence } from "./client";
import type { Mentioned } from "./mentioned";
import { chosenFolder, likelyFolder, nameOf, placeOf } from "./places";
import { storedSessions } from "./stored";

/** Of the workspace: the session that is shown, and the folder it works in. */
const REMEMBERED = "agent.shown";

interface Remembered {
  readonly sessionId: string;
  readonly uri: string;
}

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
  private readonly returned = new vscode.EventEmitter<string>();
  /** Words that nobody heard are the person's again. */
  readonly onDidReturn = this.returned.event;
  private readonly chats = new Map<string, ChatState>();
  /** Where each of them works. */
  private readonly places = new Map<string, vscode.Uri>();
  /** Ends the request of a prompt that has no turn yet. */
  private readonly unheard = new Map<string, vscode.CancellationTokenSource>();
  private currentId: string | null = null;
  private opening: Promise<string> | undefined;
  /** To other sessions: the one asked for last is the one that is shown, and what is said meanwhile is said there. */
  private readonly moves = new OneByOne();
  private sent = 0;

  constructor(
    private readonly running: () => Promise<AgentClient>,
    private readonly memory: vscode.Memento,
    private readonly mentioned: Mentioned,
  ) {}

  get current(): ChatState | undefined {
    return this.currentId === null ? undefined : this.chat(this.currentId);
  }

  chat(sessionId: string): ChatState | undefined {
    return this.chats.get(sessionId);
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

  /** The session that is shown: the remembered one, else a new one. */
  async open(): Promise<string> {
    await this.moves.settled();
    return this.opened();
  }

  private async opened(): Promise<string> {
    if (this.currentId !== null) return this.currentId;
    this.opening ??= this.openFirst().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async openFirst(): Promise<string> {
    const remembered = this.memory.get<Remembered>(REMEMBERED);
    if (remembered !== undefined) {
      try {
        return await this.loadIn(remembered.sessionId, vscode.Uri.parse(remembered.uri));
      } catch {
        // Deleted, or of another machine: nothing to go on with.
        await this.memory.update(REMEMBERED, undefined);
      }
    }
    return this.beginIn(likelyFolder().uri);
  }

  /** A fresh session, shown from now on; of several folders the person chooses. Undefined: they chose none. */
  async begin(): Promise<string | undefined> {
    const folder = await chosenFolder();
    return folder && this.moves.run(() => this.beginIn(folder.uri));
  }

  private async beginIn(uri: vscode.Uri): Promise<string> {
    const client = await this.running();
    const session = await client.ask("agent/session/new", placeOf(uri));
    this.know(session.sessionId, uri);
    this.dispatch(session.sessionId, { kind: "opened", session });
    return this.show(session.sessionId);
  }

  private know(sessionId: string, uri: vscode.Uri): void {
    this.places.set(sessionId, uri);
    this.chats.set(sessionId, emptyChat(sessionId, nameOf(uri)));
  }

  private place(sessionId: string): Place {
    return placeOf(this.places.get(sessionId) ?? likelyFolder().uri);
  }

  /** Show a session: as it is known here, else from the store. */
  load(sessionId: string): Promise<string> {
    return this.moves.run(() => this.loadIn(sessionId));
  }

  private async loadIn(sessionId: string, uri?: vscode.Uri): Promise<string> {
    if (this.chats.has(sessionId)) return this.show(sessionId);
    const client = await this.running();
    this.know(sessionId, uri ?? this.places.get(sessionId) ?? likelyFolder().uri);
    try {
      const session = await client.ask("agent/session/load", { ...this.place(sessionId), sessionId });
      this.dispatch(sessionId, { kind: "opened", session });
    } catch (error) {
      this.chats.delete(sessionId);
      throw error;
    }
    return this.show(sessionId);
  }

  /** Show a session as it is stored, whatever is known of it here. */
  reload(sessionId: string): Promise<string> {
    return this.moves.run(() => {
      this.chats.delete(sessionId);
      return this.loadIn(sessionId);
    });
  }

  /** Go on in a copy of a session, the one that is shown or another one. */
  fork(given?: string): Promise<string> {
    return this.moves.run(async () => this.forkOf(given ?? (await this.opened())));
  }

  private async forkOf(from: string): Promise<string> {
    const client = await this.running();
    const place = this.place(from);
    const session = await client.ask("agent/session/fork", { ...place, sessionId: from });
    const known = this.chats.get(from);
    // What is not known here is read from the store: the fork has the same past.
    if (known === undefined) return this.loadIn(session.sessionId, vscode.Uri.parse(place.uri));
    this.know(session.sessionId, vscode.Uri.parse(place.uri));
    this.chats.set(session.sessionId, { ...known, sessionId: session.sessionId, waiting: [] });
    this.dispatch(session.sessionId, { kind: "opened", session });
    return this.show(session.sessionId);
  }

  /** The stored sessions of this workspace's folders, the latest first. */
  async list(): Promise<readonly SessionInfo[]> {
    const stored = await storedSessions(await this.running());
    for (const { session, folder } of stored) this.places.set(session.sessionId, folder);
    return stored.map(({ session }) => session);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    const client = await this.running();
    const named = await client.ask("agent/session/set_title", { sessionId, title });
    const update = { sessionUpdate: "session_info_update", title: named.title } as const;
    this.dispatch(sessionId, { kind: "update", update, live: false, at: Date.now() });
  }

  delete(sessionId: string): Promise<void> {
    return this.moves.run(() => this.forget(sessionId));
  }

  private async forget(sessionId: string): Promise<void> {
    const client = await this.running();
    await client.ask("agent/session/delete", { sessionId });
    this.chats.delete(sessionId);
    const uri = this.places.get(sessionId) ?? likelyFolder().uri;
    this.places.delete(sessionId);
    if (this.currentId !== sessionId) return;
    this.currentId = null;
    await this.beginIn(uri);
  }

  private async show(sessionId: string): Promise<string> {
    this.currentId = sessionId;
    const uri = (this.places.get(sessionId) ?? likelyFolder().uri).toString();
    await this.memory.update(REMEMBERED, { sessionId, uri } satisfies Remembered);
    this.switched.fire(this.chats.get(sessionId));
    return sessionId;
  }

  /** The process is gone, and all that ran in it. */
  lost(): void {
    for (const sessionId of this.chats.keys()) this.dispatch(sessionId, { kind: "lost", at: Date.now() });
  }

  /** A new process knows of no session: take up the one that is shown, and forget the others until they are asked for. */
  async takeUp(client: AgentClient): Promise<void> {
    const shown = this.current;
    for (const sessionId of this.chats.keys()) if (sessionId !== shown?.sessionId) this.chats.delete(sessionId);
    if (shown === undefined) return;
    const { sessionId } = shown;
    const session = await client.ask("agent/session/resume", { ...this.place(sessionId), sessionId });
    this.dispatch(shown.sessionId, { kind: "opened", session });
  }

  /** Prompt the shown session. Returns once the prompt is on its way; what comes of it is events. */
  async prompt(text: string, images: readonly PastedImage[] = []): Promise<void> {
    const sessionId = await this.open();
    const client = await this.running();
    const { waiting, blocks } = await this.say("prompt", text, images);
    const source = new vscode.CancellationTokenSource();
    this.unheard.set(waiting.id, source);
    this.dispatch(sessionId, { kind: "prompted", waiting });
    client
      .ask("agent/session/prompt", { sessionId, prompt: blocks }, source.token)
      .then(
        (result) => this.answered(sessionId, waiting.id, result),
        (error) => this.failed(sessionId, waiting.id, client.isRunning() ? sentence(error) : STOPPED),
      )
      .finally(() => {
        this.unheard.delete(waiting.id);
        source.dispose();
      });
  }

  private answered(sessionId: string, waitingId: string, result: PromptResult): void {
    if (!this.unheard.has(waitingId)) return; // taken back
    this.dispatch(sessionId, { kind: "answered", waitingId, result, at: Date.now() });
    const unread = (result._meta["agent-server"].unread ?? []).map(textIn).filter((text) => text !== "");
    if (unread.length > 0) this.returned.fire(unread.join("\n\n"));
  }

  private failed(sessionId: string, waitingId: string, message: string): void {
    if (this.unheard.has(waitingId)) this.dispatch(sessionId, { kind: "failed", waitingId, message });
  }

  /** Take back a prompt that waits: it will not run, and its words are the person's again. */
  withdraw(waitingId: string): void {
    const sessionId = this.currentId;
    const waiting = this.current?.waiting.find((one) => one.id === waitingId && one.how === "prompt");
    const source = this.unheard.get(waitingId);
    if (sessionId === null || waiting === undefined || source === undefined) return;
    this.unheard.delete(waitingId);
    source.cancel();
    this.dispatch(sessionId, { kind: "withdrawn", waitingId });
    this.returned.fire(waiting.text);
  }

  /**
   * Say something to the running turn, which hears it at its next step, or drops what it says and hears it at once; a
   * turn of its own when none runs any more.
   */
  async steer(how: "steer" | "redirect", text: string, images: readonly PastedImage[] = []): Promise<void> {
    const chat = this.current;
    if (chat?.status.turnId == null || !chat.status.busy) return this.prompt(text, images);
    const client = await this.running();
    const { sessionId, status } = chat;
    const { waiting, blocks } = await this.say(how, text, images);
    this.dispatch(sessionId, { kind: "prompted", waiting });
    try {
      await client.ask("agent/session/steer", {
        sessionId,
        mode: how,
        prompt: blocks,
        expectedTurnId: status.turnId,
      });
    } catch (error) {
      this.dispatch(sessionId, { kind: "withdrawn", waitingId: waiting.id });
      if (this.current?.status.turnId === status.turnId) {
        this.returned.fire(text);
        throw error;
      }
      await this.prompt(text, images); // that turn is over
    }
  }

  private async say(how: Waiting["how"], text: string, images: readonly PastedImage[]) {
    const pictures = images.map((image) => ({ type: "image", ...image }) as const);
    const attached = [...(await this.mentioned.resolve(mentions(text))), ...pictures];
    const waiting = { id: `prompt-${++this.sent}`, text, attached: attached.map(attachedName), how };
    return { waiting, blocks: promptBlocks(text, attached) };
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
    this.returned.dispose();
  }
}

const STOPPED = "The server stopped before it answered";
