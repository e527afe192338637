/**
 * Questions of the server, and those of the model in words. Each is a card in the chat of its session, and answered
 * there; a notification and the status bar only show it. No answer means no.
 */

import * as vscode from "vscode";
import { optionWords } from "../chat/words";
import type { Ask, Asked, PermissionAnswer, PermissionOption, RequestPermission } from "../protocol/messages";
import type { Conversation } from "./conversation";
import { noticeText } from "./notices";
import { settings } from "./settings";

const WITHDRAWN: PermissionAnswer = { outcome: { outcome: "cancelled" } };
const SHOW = "Show";
const STOPPED = "Not answered: the server stopped";

/** A question that waits, and whose it is. */
export interface Waiting {
  readonly id: string;
  readonly sessionId: string;
  /** What is asked, in one line. */
  readonly title: string;
}

interface Card extends Waiting {
  /** Nobody waits for an answer any more; `words` say why. */
  readonly withdraw: (words: string) => void;
}

interface Permission extends Card {
  readonly kind: "permission";
  readonly options: readonly PermissionOption[];
  readonly resolve: (answer: PermissionAnswer) => void;
}

interface Model extends Card {
  readonly kind: "model";
  readonly resolve: (answer: Asked) => void;
}

export class Permissions implements vscode.Disposable {
  private readonly open = new Map<string, Permission | Model>();
  private readonly changed = new vscode.EventEmitter<number>();
  /** How many questions wait. */
  readonly onDidChange = this.changed.event;
  private asked = 0;

  constructor(
    private readonly conversation: Conversation,
    /** Whether the chat of that session is to be seen. */
    private readonly visible: (sessionId: string) => boolean,
    private readonly show: (question: Waiting) => Promise<void>,
  ) {}

  /** All that wait, the oldest first. */
  get waiting(): readonly Waiting[] {
    return [...this.open.values()];
  }

  ask(request: RequestPermission, token: vscode.CancellationToken): Promise<PermissionAnswer> {
    const id = `q${++this.asked}`;
    const { sessionId, options } = request;
    return new Promise((resolve) => {
      const withdraw = (words: string) => {
        if (this.close(id, words)) resolve(WITHDRAWN);
      };
      const title = request.toolCall.title ?? "may it go on?";
      this.conversation.dispatch(sessionId, { kind: "asked", id, request });
      this.opened({ kind: "permission", id, sessionId, title, options, resolve, withdraw }, token);
    });
  }

  /** A question of the model: one of its options, or words of the person's own. */
  askModel(request: Ask, token: vscode.CancellationToken): Promise<Asked> {
    const id = `q${++this.asked}`;
    const { sessionId } = request;
    return new Promise((resolve) => {
      const withdraw = (words: string) => {
        if (this.close(id, words)) resolve({ answer: null });
      };
      this.conversation.dispatch(sessionId, { kind: "modelAsked", id, request });
      this.opened({ kind: "model", id, sessionId, title: request.question, resolve, withdraw }, token);
    });
  }

  private opened(card: Permission | Model, token: vscode.CancellationToken): void {
    this.open.set(card.id, card);
    token.onCancellationRequested(() => card.withdraw("Withdrawn"));
    this.changed.fire(this.open.size);
    if (!this.visible(card.sessionId) && settings().notifyWhenHidden) void this.notify(card);
  }

  /** Tell that it waits. The one button shows it, and so does no key that was meant for something else. */
  private async notify(card: Waiting): Promise<void> {
    const text = noticeText(`${this.nameOf(card)}: the agent waits for you: ${card.title}`);
    const chosen = await vscode.window.showWarningMessage(text, SHOW);
    if (chosen === SHOW && this.open.has(card.id)) await this.show(card);
  }

  /** The title of its session. */
  nameOf({ sessionId }: Waiting): string {
    return this.conversation.chat(sessionId)?.title ?? "Untitled session";
  }

  /** The person's choice. `feedback` are words for the model. */
  answer(id: string, optionId: string, feedback: string | null = null): void {
    const card = this.open.get(id);
    if (card?.kind !== "permission") return;
    const option = card.options.find((one) => one.optionId === optionId);
    if (option === undefined) return;
    const meta = feedback === null ? {} : { _meta: { "agent-server": { feedback } } };
    const words = optionWords(option, card.title);
    this.close(id, feedback === null ? words : `${words}: ${feedback}`);
    card.resolve({ outcome: { outcome: "selected", optionId, ...meta } });
  }

  /** What the person says to a question of the model; null: nothing. */
  tell(id: string, words: string | null): void {
    const card = this.open.get(id);
    if (card?.kind !== "model") return;
    this.close(id, words ?? "No answer");
    card.resolve({ answer: words });
  }

  /** Show a question: one of the session that is shown, else the one that has waited longest. */
  async showNext(): Promise<void> {
    const shown = this.conversation.current?.sessionId;
    const card = this.waiting.find((one) => one.sessionId === shown) ?? this.waiting[0];
    if (card === undefined) await vscode.window.showInformationMessage("Nothing waits for an answer.");
    else await this.show(card);
  }

  /** The server is gone: nobody waits for an answer any more. */
  lost(): void {
    for (const card of [...this.open.values()]) card.withdraw(STOPPED);
  }

  /** Whether it was open. */
  private close(id: string, words: string): boolean {
    const card = this.open.get(id);
    if (card === undefined) return false;
    this.open.delete(id);
    this.conversation.dispatch(card.sessionId, { kind: "settled", id, answer: words });
    this.changed.fire(this.open.size);
    return true;
  }

  dispose(): void {
    this.lost();
    this.changed.dispose();
  }
}
