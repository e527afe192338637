/** Everything that can happen to a shown conversation. `at` is the clock in milliseconds, so that `apply` stays pure. */

import type { SessionState, Update } from "../protocol/acp";
import type { Ask, PromptResult, RequestPermission, Status } from "../protocol/messages";
import type { Waiting } from "./state";

export type ChatEvent =
  /** The answer to new, load or resume: everything stored has been shown. */
  | { readonly kind: "opened"; readonly session: SessionState }
  | { readonly kind: "prompted"; readonly waiting: Waiting }
  | { readonly kind: "update"; readonly update: Update; readonly live: boolean; readonly at: number }
  | { readonly kind: "status"; readonly status: Status; readonly at: number }
  | {
      readonly kind: "answered";
      readonly waitingId: string;
      readonly result: PromptResult;
      readonly at: number;
    }
  /** What waited was taken back before anybody heard it. */
  | { readonly kind: "withdrawn"; readonly waitingId: string }
  /** A prompt was answered by an error, or could not be sent. */
  | { readonly kind: "failed"; readonly waitingId: string; readonly message: string }
  | { readonly kind: "asked"; readonly id: string; readonly request: RequestPermission }
  | { readonly kind: "modelAsked"; readonly id: string; readonly request: Ask }
  | { readonly kind: "settled"; readonly id: string; readonly answer: string }
  /** The server is gone: nothing runs any more. */
  | { readonly kind: "lost"; readonly at: number };
