/** A conversation as it is shown. Plain values: the host keeps it, the webview gets a copy and the same events. */

import type {
  AvailableCommand,
  ConfigOption,
  PlanEntry,
  SessionModes,
  ToolKind,
  ToolLocation,
  ToolStatus,
} from "../protocol/acp";
import type { PermissionOption, Status } from "../protocol/messages";

export interface UserItem {
  readonly kind: "user";
  readonly id: string;
  readonly text: string;
  /** Names of what was attached, in order. */
  readonly attached: readonly string[];
}

export interface MessageItem {
  readonly kind: "message";
  readonly id: string;
  readonly text: string;
}

export interface ThoughtItem {
  readonly kind: "thought";
  readonly id: string;
  readonly text: string;
  /** Milliseconds of the clock when it began. */
  readonly since: number;
  /** Null while it goes on, and in a replay, where nobody knows. */
  readonly seconds: number | null;
}

export interface ToolDiff {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

export interface ToolItem {
  readonly kind: "tool";
  readonly id: string;
  readonly title: string;
  readonly toolKind: ToolKind;
  readonly status: ToolStatus;
  /** One short clause: what came of it. */
  readonly summary: string | null;
  /** Markdown. */
  readonly output: string;
  readonly diffs: readonly ToolDiff[];
  readonly location: ToolLocation | null;
  readonly since: number;
  readonly seconds: number | null;
}

export interface QuestionItem {
  readonly kind: "question";
  readonly id: string;
  readonly title: string;
  readonly toolKind: ToolKind;
  /** Markdown: the command or diff, and why the person is asked. */
  readonly detail: string;
  readonly options: readonly PermissionOption[];
  /** What was answered; null while it waits. */
  readonly answer: string | null;
}

export interface NoticeItem {
  readonly kind: "notice";
  readonly id: string;
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly description: string | null;
}

/** A question of the model itself: one of the options, or words. */
export interface AskItem {
  readonly kind: "ask";
  readonly id: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly answer: string | null;
}

/** The last line of a turn. */
export interface EndItem {
  readonly kind: "end";
  readonly id: string;
  /** Why it ended, when that was not the usual way; else null. */
  readonly why: string | null;
  readonly failed: boolean;
  readonly tokens: number | null;
  readonly cost: string | null;
  readonly seconds: number | null;
}

export type Item = UserItem | MessageItem | ThoughtItem | ToolItem | QuestionItem | AskItem | NoticeItem | EndItem;

export interface Usage {
  readonly used: number;
  readonly size: number;
  /** Of the session, in dollars; null: unknown. */
  readonly cost: number | null;
}

/** What was said and is not part of the conversation yet. */
export interface Waiting {
  readonly id: string;
  readonly text: string;
  readonly attached: readonly string[];
  /** A prompt has a turn of its own, once it begins; the others are heard by the running one. */
  readonly how: "prompt" | "steer" | "redirect";
}

export interface ChatState {
  readonly sessionId: string;
  readonly title: string | null;
  readonly items: readonly Item[];
  readonly plan: readonly PlanEntry[];
  readonly modes: SessionModes | null;
  readonly options: readonly ConfigOption[];
  /** What a prompt may begin with, as the server offers it. */
  readonly commands: readonly AvailableCommand[];
  readonly usage: Usage | null;
  readonly status: Pick<Status, "state" | "label" | "busy" | "turnId">;
  readonly waiting: readonly Waiting[];
  /** When the running turn began, in milliseconds; null between turns. */
  readonly turnSince: number | null;
  /** The folder it works in, where that is not obvious. */
  readonly folder: string | null;
  /** Who holds the session, when it can only be read. */
  readonly readOnly: string | null;
  /** The stored conversation is still coming. */
  readonly loading: boolean;
}

/** Before anything is known of it. */
export function emptyChat(sessionId: string, folder: string | null = null): ChatState {
  return {
    sessionId,
    title: null,
    items: [],
    plan: [],
    modes: null,
    options: [],
    commands: [],
    usage: null,
    status: { state: "done", label: "", busy: false, turnId: null },
    waiting: [],
    turnSince: null,
    folder,
    readOnly: null,
    loading: true,
  };
}
