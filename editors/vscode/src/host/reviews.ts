/** The proposals of this connection: kept, decided in order, announced. The diffs, lenses and the tree watch it. */

import * as vscode from "vscode";
import type { EditDecision, EditReverted, EditStateChanged, ResolveEdit } from "../protocol/messages";
import type { Reviews as Proposals, Review, ReviewFile } from "../review/model";
import { isOpen } from "../review/model";
import type { ReviewEvent } from "../review/reduce";
import { applyReview } from "../review/reduce";
import type { AgentClient } from "./client";
import { sentence } from "./client";

/** Milliseconds until the server of a reloaded window may have told of an edit. */
const KNOWN_MS = 20_000;

export interface Subject {
  readonly txn: string;
  readonly uri: string;
}

/** A whole edit, a file of it, or a hunk of that. */
export interface Part {
  readonly txn: string;
  readonly uri?: string;
  readonly hunk?: string;
}

/** What goes with decisions. */
type Terms = Pick<ResolveEdit, "remember" | "feedback">;

export class Reviews implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<ReviewEvent>();
  readonly onDidChange = this.changed.event;
  private proposals: Proposals = new Map();
  /** Decisions go out one after the other: each names the revision that the last answer gave. */
  private queue: Promise<void> = Promise.resolve();
  /** Reasons for a no, by txn: the model hears those that come with the last decision. */
  private readonly reasons = new Map<string, readonly string[]>();

  constructor(private readonly running: () => Promise<AgentClient>) {}

  get all(): Proposals {
    return this.proposals;
  }

  /** Those that can be decided, oldest first: a turn waits for them, or a stopped server left them open. */
  get open(): readonly Review[] {
    return [...this.proposals.values()].filter(isOpen);
  }

  review(txn: string): Review | undefined {
    return this.proposals.get(txn);
  }

  /** An edit, once it is known: VS Code opens the diffs of a reloaded window before the server has told of them. */
  async known(txn: string): Promise<Review | undefined> {
    if (this.review(txn) !== undefined) return this.review(txn);
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        heard.dispose();
        resolve();
      };
      const timer = setTimeout(done, KNOWN_MS);
      const heard = this.onDidChange(() => this.review(txn) !== undefined && done());
    });
    return this.review(txn);
  }

  file({ txn, uri }: Subject): ReviewFile | undefined {
    return this.review(txn)?.files.find((file) => file.uri === uri);
  }

  follow(client: AgentClient): void {
    client.heard("agent/edit/proposed", (told) => this.dispatch({ kind: "proposed", told }));
    client.heard("agent/edit/state", (told) => void this.moved(client, told));
  }

  dispatch(event: ReviewEvent): void {
    this.proposals = applyReview(this.proposals, event);
    this.changed.fire(event);
  }

  private async moved(client: AgentClient, told: EditStateChanged): Promise<void> {
    const isNews = told.state === "abandoned" || told.state === "applied";
    if (isNews && this.review(told.txn) === undefined) {
      // Left open by a server that this window did not know, or made of such an edit. Forgotten: nothing to show.
      const found = await client.ask("agent/edit/get", { txn: told.txn }).catch(() => undefined);
      if (found === undefined || found.review === "staged") return;
      this.proposals = applyReview(this.proposals, { kind: "proposed", told: found });
    }
    this.dispatch({ kind: "state", told });
  }

  /** Send decisions on an edit that still waits; on another they are not worth a message. */
  decide(txn: string, decisions: readonly EditDecision[], terms: Terms = {}): Promise<void> {
    this.queue = this.queue.then(() => this.resolve(txn, decisions, terms));
    return this.queue;
  }

  /** Until all decisions so far are answered. */
  settled(): Promise<void> {
    return this.queue;
  }

  private async resolve(txn: string, decisions: readonly EditDecision[], terms: Terms): Promise<void> {
    const review = this.review(txn);
    if (review === undefined || !isOpen(review)) return;
    const reasons = [...(this.reasons.get(txn) ?? []), ...(terms.feedback == null ? [] : [terms.feedback])];
    this.reasons.set(txn, reasons);
    const feedback = reasons.length === 0 ? null : reasons.join("\n");
    try {
      const client = await this.running();
      const remember = terms.remember ?? "once";
      const wanted = { txn, revision: review.revision, decisions, remember, feedback };
      const told = await client.ask("agent/edit/resolve", wanted);
      if (told.state !== "proposed") this.reasons.delete(txn);
      this.dispatch({ kind: "resolved", decisions, told });
    } catch (error) {
      await this.refused(txn, error);
    }
  }

  /** A decision on an older revision: have the newer one shown, for the person to decide on that. */
  private async refused(txn: string, error: unknown): Promise<void> {
    if (reasonOf(error) === "stale_revision") await this.fetch(txn);
    void vscode.window.showWarningMessage(`The decision was not taken: ${sentence(error)}`);
  }

  /** Have a proposal told again, or for the first time. */
  async fetch(txn: string): Promise<void> {
    const client = await this.running();
    this.dispatch({ kind: "proposed", told: await client.ask("agent/edit/get", { txn }) });
  }

  /** Take back an edit that was applied, or a part of it; what could not be taken back. */
  async revert({ txn, uri, hunk }: Part): Promise<EditReverted> {
    const client = await this.running();
    const revision = this.review(txn)?.revision ?? 0;
    return client.ask("agent/edit/revert", { txn, revision, uri: uri ?? null, hunk: hunk ?? null });
  }

  /** Both texts of a change, fetched when they were too large to be sent with it. */
  async complete(subject: Subject): Promise<ReviewFile | undefined> {
    const file = this.file(subject);
    if (file === undefined || !isPartial(file)) return file;
    const client = await this.running();
    const [base, proposed] = await Promise.all([
      client.ask("agent/edit/content", { ...subject, side: "base" }),
      client.ask("agent/edit/content", { ...subject, side: "new" }),
    ]);
    this.dispatch({ kind: "content", ...subject, base: base.text, proposed: proposed.text });
    return this.file(subject);
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function isPartial(file: ReviewFile): boolean {
  return (file.base === null && file.kind !== "create") || (file.proposed === null && file.kind !== "delete");
}

/** The one word by which the server says what kind of error it is. */
function reasonOf(error: unknown): unknown {
  return (error as { readonly data?: { readonly reason?: unknown } } | null)?.data?.reason;
}
