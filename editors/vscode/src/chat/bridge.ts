/** What the chat view and the host tell each other. Both sides import this and nothing else of each other. */

import type { SessionInfo } from "../protocol/acp";
import type { ReviewSummary } from "../review/shown";
import type { ChatEvent } from "./events";
import type { ChatState, Waiting } from "./state";

export type ServerState =
  | { readonly kind: "idle" }
  | { readonly kind: "starting" }
  | { readonly kind: "ready"; readonly version: string }
  | { readonly kind: "noFolder" }
  | { readonly kind: "missing"; readonly message: string; readonly canInstall: boolean }
  | { readonly kind: "installing"; readonly step: string }
  | { readonly kind: "restarting"; readonly message: string; readonly seconds: number }
  | { readonly kind: "failed"; readonly message: string };

export interface Completion {
  readonly label: string;
  readonly detail: string;
  /** Replaces the word with its `@` or `/`. */
  readonly insert: string;
}

export interface PastedImage {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

export type ToView =
  | {
      readonly kind: "snapshot";
      readonly server: ServerState;
      readonly chat: ChatState | null;
      readonly review: ReviewSummary;
    }
  | { readonly kind: "events"; readonly sessionId: string; readonly events: readonly ChatEvent[] }
  | { readonly kind: "server"; readonly server: ServerState }
  | { readonly kind: "review"; readonly review: ReviewSummary }
  | { readonly kind: "sessions"; readonly sessions: readonly SessionInfo[]; readonly current: string | null }
  | { readonly kind: "completions"; readonly query: string; readonly found: readonly Completion[] }
  /** Put this into the input, behind what is there when that is to be kept, and the cursor behind it. */
  | { readonly kind: "compose"; readonly text: string; readonly keep: boolean }
  /** Bring a question into view, with the keyboard on its card and on none of its buttons. */
  | { readonly kind: "showQuestion"; readonly id: string };

/** Commands that the view may run, and no others. */
export const VIEW_COMMANDS = [
  "agent.newSession",
  "agent.forkSession",
  "agent.renameSession",
  "agent.resumeSession",
  "agent.exportSession",
  "agent.pickModel",
  "agent.pickMode",
  "agent.undo",
  "agent.restoreCheckpoint",
  "agent.review",
  "agent.acceptAll",
  "agent.rejectAll",
  "agent.showLog",
  "agent.restart",
  "agent.install",
  "agent.doctor",
  "agent.openSettings",
  "agent.openFolder",
  "agent.tryDemo",
] as const;

export type ViewCommand = (typeof VIEW_COMMANDS)[number];

export type FromView =
  | { readonly kind: "ready" }
  /** Whether the keyboard is in the page. */
  | { readonly kind: "focus"; readonly isHere: boolean }
  | {
      readonly kind: "send";
      readonly text: string;
      /** While a turn runs: a turn of its own afterwards, heard at the next step, or at once. */
      readonly how: Waiting["how"];
      readonly images: readonly PastedImage[];
    }
  /** Take back what waits, into the input. */
  | { readonly kind: "withdraw"; readonly waitingId: string }
  | { readonly kind: "stop" }
  | {
      readonly kind: "answer";
      readonly id: string;
      readonly optionId: string;
      readonly feedback: string | null;
    }
  /** To a question of the model; null: no answer. */
  | { readonly kind: "tell"; readonly id: string; readonly words: string | null }
  | { readonly kind: "setMode"; readonly modeId: string }
  | { readonly kind: "setOption"; readonly configId: string; readonly value: string }
  | { readonly kind: "listSessions" }
  | { readonly kind: "openSession"; readonly sessionId: string }
  | { readonly kind: "forkSession"; readonly sessionId: string }
  | { readonly kind: "exportSession"; readonly sessionId: string }
  | { readonly kind: "deleteSession"; readonly sessionId: string }
  | { readonly kind: "complete"; readonly query: string }
  | { readonly kind: "copy"; readonly text: string }
  | { readonly kind: "insert"; readonly text: string }
  /** Ask for code to be made an edit of the file the person is in: the proposal is reviewed as any other. */
  | { readonly kind: "applyCode"; readonly text: string }
  | { readonly kind: "openFile"; readonly path: string; readonly line: number | null }
  | { readonly kind: "revertEdit"; readonly toolCallId: string }
  | { readonly kind: "openLink"; readonly href: string }
  | { readonly kind: "command"; readonly command: ViewCommand };
