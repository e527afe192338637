/** Questions of the server: a card in the chat, and a modal when the chat is not to be seen. No answer means no. */

import * as vscode from "vscode";
import { optionWords } from "../chat/words";
import type { PermissionAnswer, RequestPermission } from "../protocol/messages";
import type { Conversation } from "./conversation";
import { settings } from "./settings";

const WITHDRAWN: PermissionAnswer = { outcome: { outcome: "cancelled" } };

interface Open {
  readonly sessionId: string;
  readonly request: RequestPermission;
  readonly answer: (answer: PermissionAnswer) => void;
}

export class Permissions implements vscode.Disposable {
  private readonly open = new Map<string, Open>();
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
    const { sessionId } = request;
    return new Promise((resolve) => {
      this.open.set(id, { sessionId, request, answer: resolve });
      this.conversation.dispatch(sessionId, { kind: "asked", id, request });
      token.onCancellationRequested(() => this.settle(id, WITHDRAWN, "Withdrawn"));
      this.changed.fire(this.open.size);
      if (!this.visible(sessionId) && settings().modalWhenHidden) void this.askModally(id, request);
    });
  }

  /** The person's choice. `feedback` are words for the model. */
  answer(id: string, optionId: string, feedback: string | null = null): void {
    const option = this.open.get(id)?.request.options.find((one) => one.optionId === optionId);
    if (option === undefined) return;
    const meta = feedback === null ? {} : { _meta: { "agent-server": { feedback } } };
    const answer: PermissionAnswer = { outcome: { outcome: "selected", optionId, ...meta } };
    this.settle(id, answer, feedback === null ? optionWords(option) : `${optionWords(option)}: ${feedback}`);
  }

  /** The server is gone: nobody waits for an answer any more. */
  lost(): void {
    for (const id of [...this.open.keys()]) this.settle(id, WITHDRAWN, "Not answered: the server stopped");
  }

  /** Closing the modal decides nothing: the question stays in the chat and in the status bar. */
  private async askModally(id: string, request: RequestPermission): Promise<void> {
    const items = request.options.map((option) => ({
      title: optionWords(option),
      option,
      isCloseAffordance: false,
    }));
    const text = `The agent asks: ${request.toolCall.title ?? "may it go on?"}`;
    const chosen = await vscode.window.showWarningMessage(text, { modal: true, detail: commandOf(request) }, ...items);
    if (chosen !== undefined) this.answer(id, chosen.option.optionId);
  }

  private settle(id: string, answer: PermissionAnswer, words: string): void {
    const open = this.open.get(id);
    if (open === undefined) return;
    this.open.delete(id);
    open.answer(answer);
    this.conversation.dispatch(open.sessionId, { kind: "settled", id, answer: words });
    this.changed.fire(this.open.size);
  }

  dispose(): void {
    this.lost();
    this.changed.dispose();
  }
}

/** The thing itself, as plain text: a modal shows no Markdown. */
function commandOf(request: RequestPermission): string {
  const call = request.toolCall as { readonly content?: readonly { readonly content?: { readonly text?: string } }[] };
  const texts = (call.content ?? []).flatMap((part) => part.content?.text ?? []);
  return texts
    .join("\n\n")
    .replace(/^`{3,}\w*\n?/gm, "")
    .trim();
}
