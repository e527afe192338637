/** What the page shows, after a message of the host. Pure: the chat's own reducer does the work. */

import type { Completion, ServerState, ToView } from "../chat/bridge";
import { apply } from "../chat/reduce";
import type { ChatState } from "../chat/state";
import type { SessionInfo } from "../protocol/acp";
import type { ReviewSummary } from "../review/shown";

export interface PageState {
  readonly server: ServerState;
  readonly chat: ChatState | null;
  readonly review: ReviewSummary;
  readonly sessions: readonly SessionInfo[];
  readonly currentSession: string | null;
  readonly completions: { readonly query: string; readonly found: readonly Completion[] };
  readonly composed: { readonly text: string; readonly keep: boolean } | null;
}

export const EMPTY_PAGE: PageState = {
  server: { kind: "idle" },
  chat: null,
  review: { edits: 0, files: [], outside: [] },
  sessions: [],
  currentSession: null,
  completions: { query: "", found: [] },
  composed: null,
};

export function receive(page: PageState, message: ToView): PageState {
  switch (message.kind) {
    case "snapshot":
      return { ...page, server: message.server, chat: message.chat, review: message.review };
    case "events":
      if (page.chat?.sessionId !== message.sessionId) return page;
      return { ...page, chat: message.events.reduce(apply, page.chat) };
    case "server":
      return { ...page, server: message.server };
    case "review":
      return { ...page, review: message.review };
    case "sessions":
      return { ...page, sessions: message.sessions, currentSession: message.current };
    case "completions":
      return { ...page, completions: { query: message.query, found: message.found } };
    case "compose":
      return { ...page, composed: { text: message.text, keep: message.keep } };
    case "showQuestion":
      return page; // where the keyboard is, is not drawn: `focus.ts`
  }
}
