/** The proposals of this connection: kept, decided in order, announced. The diffs, lenses and the tree watch it. */

import * as vscode from "vscode";
import type { EditDecision } from "../protocol/messages";
import type { Reviews as Proposals, Review, ReviewEvent, ReviewFile } from "../review/model";
import { applyReview, isOpen } from "../review/model";
import type { AgentClient } from "./client";
import { sentence } from "./client";

export interface Subject {
  readonly txn: string;
  readonly uri: string;
}

export class Reviews implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<ReviewEvent>();
  readonly onDidChange = this.changed.event;
  private proposals: Proposals = new Map();
  /** Decisions go out one after the other: each names the revision that the last answer gave. */
  private queue: Promise<void> = Promise.resolve();

  constructor(private readonly running: () => Promise<AgentClient>) {}

  get all(): Proposals {
    return this.proposals;
  }

  get open(): readonly Review[] {
    return [...this.proposals.values()].filter(isOpen);
  }

  review(txn: string): Review | undefined {
    return this.proposals.get(txn);
  }

  file({ txn, uri }: Subject): ReviewFile | undefined {
    return this.review(txn)?.files.find((file) => file.uri === uri);
  }

  follow(client: AgentClient): void {
    client.heard("agent/edit/proposed", (told) => this.dispatch({ kind: "proposed", told }));
    client.heard("agent/edit/state", (told) => this.dispatch({ kind: "state", told }));
  }

  dispatch(event: ReviewEvent): void {
    this.proposals = applyReview(this.proposals, event);
    this.changed.fire(event);
  }

  /** Send decisions on an edit that still waits; on another they are not worth a message. */
  decide(txn: string, decisions: readonly EditDecision[], feedback: string | null = null): Promise<void> {
    this.queue = this.queue.then(() => this.resolve(txn, decisions, feedback));
    return this.queue;
  }

  private async resolve(txn: string, decisions: readonly EditDecision[], feedback: string | null): Promise<void> {
    const review = this.review(txn);
    if (review === undefined || !isOpen(review)) return;
    try {
      const client = await this.running();
      const wanted = { txn, revision: review.revision, decisions, remember: "once", feedback } as const;
      const told = await client.ask("agent/edit/resolve", wanted);
      this.dispatch({ kind: "resolved", decisions, told });
    } catch (error) {
      this.refused(txn, error);
    }
  }

  private refused(txn: string, error: unknown): void {
    const data = (error as { readonly data?: { readonly revision?: unknown } }).data;
    if (typeof data?.revision === "number") {
      this.dispatch({ kind: "revision", txn, revision: data.revision });
    }
    void vscode.window.showWarningMessage(`The decision was not taken: ${sentence(error)}`);
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
