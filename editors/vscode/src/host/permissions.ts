/**
 * Questions of the server: a card in the chat, and a modal when the chat is not to be seen. No answer means no. Those of
 * the model itself are asked the same way, in words.
 */

import * as vscode from "vscode";
import { askedOutput } from "../chat/tools";
import { optionWords, plainWords } from "../chat/words";
import { readContent } from "../protocol/acp";
import type { Ask, Asked, PermissionAnswer, PermissionOption, RequestPermission } from "../protocol/messages";
import type { Conversation } from "./conversation";
import { settings } from "./settings";

const WITHDRAWN: PermissionAnswer = { outcome: { outcome: "cancelled" } };
const STOPPED = "Not answered: the server stopped";

interface Card {
  readonly sessionId: string;
  /** Nobody waits for an answer any more; `words` say why. */
  readonly withdraw: (words: string) => void;
  /** Ask outside of the chat. */
  readonly askAside: () => Promise<void>;
}

interface Permission extends Card {
  readonly kind: "permission";
  readonly title: string;
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
  ) {}

  get waiting(): number {
    return this.open.size;
  }

  ask(request: RequestPermission, token: vscode.CancellationToken): Promise<PermissionAnswer> {
    const id = `q${++this.asked}`;
    const { sessionId, options } = request;
    return new Promise((resolve) => {
      const withdraw = (words: string) => {
        if (this.close(id, words)) resolve(WITHDRAWN);
      };
      const askAside = () => this.pickOption(id, request);
      const title = titleOf(request);
      this.open.set(id, { kind: "permission", sessionId, title, options, resolve, withdraw, askAside });
      this.conversation.dispatch(sessionId, { kind: "asked", id, request });
      this.opened(sessionId, token, withdraw, () => this.askModally(id, request));
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
      const askAside = () => this.pickWords(id, request);
      this.open.set(id, { kind: "model", sessionId, resolve, withdraw, askAside });
      this.conversation.dispatch(sessionId, { kind: "modelAsked", id, request });
      this.opened(sessionId, token, withdraw, askAside);
    });
  }

  private opened(
    sessionId: string,
    token: vscode.CancellationToken,
    withdraw: (words: string) => void,
    askHidden: () => Promise<void>,
  ): void {
    token.onCancellationRequested(() => withdraw("Withdrawn"));
    this.changed.fire(this.open.size);
    if (!this.visible(sessionId) && settings().modalWhenHidden) void askHidden();
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

  /** Answer the question that has waited longest, from wherever the person is. */
  async answerNext(): Promise<void> {
    const [card] = this.open.values();
    if (card === undefined) await vscode.window.showInformationMessage("Nothing waits for an answer.");
    else await card.askAside();
  }

  /** The server is gone: nobody waits for an answer any more. */
  lost(): void {
    for (const card of [...this.open.values()]) card.withdraw(STOPPED);
  }

  /** Closing the modal decides nothing: the question stays in the chat and in the status bar. */
  private async askModally(id: string, request: RequestPermission): Promise<void> {
    const items = request.options.map((option) => ({
      title: optionWords(option, titleOf(request)),
      option,
      isCloseAffordance: false,
    }));
    const text = `The agent asks: ${titleOf(request)}`;
    const chosen = await vscode.window.showWarningMessage(text, { modal: true, detail: thingOf(request) }, ...items);
    if (chosen !== undefined) this.answer(id, chosen.option.optionId);
  }

  private async pickOption(id: string, request: RequestPermission): Promise<void> {
    const items = request.options.map((option) => ({
      label: optionWords(option, titleOf(request)),
      option,
      say: false,
    }));
    const refusal = request.options.find((option) => option.kind === "reject_once");
    const why = refusal === undefined ? [] : [{ label: "No, and say why…", option: refusal, say: true }];
    const title = `The agent asks: ${titleOf(request)}`;
    const placeHolder = thingOf(request).replaceAll(/\s+/g, " ").slice(0, 200);
    const chosen = await vscode.window.showQuickPick([...items, ...why], { title, placeHolder });
    if (chosen === undefined) return;
    const words = chosen.say ? await vscode.window.showInputBox({ title: "What should it do instead?" }) : null;
    if (words !== undefined) this.answer(id, chosen.option.optionId, words === "" ? null : words);
  }

  private async pickWords(id: string, { question, options }: Ask): Promise<void> {
    const own = "Something else…";
    const chosen =
      options.length === 0 ? own : await vscode.window.showQuickPick([...options, own], { title: question });
    if (chosen === undefined) return;
    const words = chosen === own ? await vscode.window.showInputBox({ title: question, ignoreFocusOut: true }) : chosen;
    if (words !== undefined && words.trim() !== "") this.tell(id, words.trim());
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

function titleOf(request: RequestPermission): string {
  return request.toolCall.title ?? "may it go on?";
}

/** The thing itself, as plain text: a modal shows no Markdown. */
function thingOf(request: RequestPermission): string {
  return plainWords(askedOutput(readContent(request.toolCall.content ?? [])));
}
