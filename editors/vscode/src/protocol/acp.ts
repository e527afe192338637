/**
 * The parts of ACP that travel inside our messages (its v1 schema), as far as the extension reads or sends them.
 * Foreign input is checked once, in `readUpdate`; everything behind it trusts the types.
 */

import type { TurnEnd } from "./messages";

// Aliases, not interfaces: only these fit the index signature of a JSON object.
export type TextBlock = {
  readonly type: "text";
  readonly text: string;
};

export type ImageBlock = {
  readonly type: "image";
  readonly mimeType: string;
  readonly data: string;
};

export type ResourceLink = {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
};

export type EmbeddedResource = {
  readonly type: "resource";
  readonly resource: { readonly uri: string; readonly text?: string; readonly mimeType?: string };
};

export type ContentBlock = TextBlock | ImageBlock | ResourceLink | EmbeddedResource;

export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "switch_mode"
  | "other";

export type ToolStatus = "pending" | "in_progress" | "completed" | "failed";

export type ToolContent =
  | { readonly type: "content"; readonly content: ContentBlock }
  | {
      readonly type: "diff";
      readonly path: string;
      readonly oldText: string | null;
      readonly newText: string;
    }
  | { readonly type: "terminal"; readonly terminalId: string };

/** The parts of a call's content that this version knows. */
export function readContent(parts: readonly { readonly [key: string]: unknown }[]): readonly ToolContent[] {
  return parts.filter((part) =>
    ["content", "diff", "terminal"].includes(String(part["type"])),
  ) as unknown as readonly ToolContent[];
}

export interface ToolLocation {
  readonly path: string;
  /** 1-based. */
  readonly line?: number;
}

/** What our server adds in `_meta["agent-server"]`. */
export interface Extra {
  readonly summary?: string | null;
  readonly code?: string | null;
  readonly seconds?: number | null;
  readonly discarded?: string;
  readonly readOnly?: string;
  readonly damaged?: string;
  /** Of `session_info_update`, in a replay: how the turn ended. */
  readonly turnEnd?: TurnEnd;
}

interface Meta {
  readonly _meta?: { readonly "agent-server"?: Extra };
}

export interface ToolCallFields extends Meta {
  readonly toolCallId: string;
  readonly title?: string | null;
  readonly name?: string;
  readonly kind?: ToolKind | null;
  readonly status?: ToolStatus | null;
  readonly content?: readonly ToolContent[] | null;
  readonly locations?: readonly ToolLocation[] | null;
  readonly rawInput?: unknown;
}

export interface PlanEntry {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

export interface SessionMode {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
}

export interface SessionModes {
  readonly currentModeId: string;
  readonly availableModes: readonly SessionMode[];
}

export interface ConfigChoice {
  readonly value: string;
  readonly name: string;
  readonly description?: string | null;
}

export interface ConfigOption {
  readonly id: string;
  readonly name: string;
  readonly category?: string | null;
  readonly currentValue: string;
  readonly options: readonly ConfigChoice[];
}

/** A command that a prompt may begin with, without its `/`. */
export interface AvailableCommand {
  readonly name: string;
  readonly description: string;
  /** What may follow the name. */
  readonly input?: { readonly hint: string } | null;
}

interface Chunk extends Meta {
  readonly messageId?: string | null;
  readonly content: ContentBlock;
}

export type Update =
  | (Chunk & { readonly sessionUpdate: "user_message_chunk" })
  | (Chunk & { readonly sessionUpdate: "agent_message_chunk" })
  | (Chunk & { readonly sessionUpdate: "agent_thought_chunk" })
  | (ToolCallFields & { readonly sessionUpdate: "tool_call" })
  | (ToolCallFields & { readonly sessionUpdate: "tool_call_update" })
  | { readonly sessionUpdate: "plan"; readonly entries: readonly PlanEntry[] }
  | {
      readonly sessionUpdate: "usage_update";
      readonly used: number;
      readonly size: number;
      readonly cost?: { readonly amount: number; readonly currency: string } | null;
    }
  | ({ readonly sessionUpdate: "session_info_update"; readonly title?: string | null } & Meta)
  | { readonly sessionUpdate: "available_commands_update"; readonly availableCommands: readonly AvailableCommand[] }
  | { readonly sessionUpdate: "current_mode_update"; readonly currentModeId: string }
  | {
      readonly sessionUpdate: "config_option_update";
      readonly configOptions: readonly ConfigOption[];
    }
  | {
      readonly sessionUpdate: "notice";
      readonly severity: "info" | "warning" | "error";
      readonly title: string;
      readonly description?: string;
    };

/** For each kind of update we know, the fields without which it means nothing. */
const NEEDED: { readonly [Kind in Update["sessionUpdate"]]: readonly string[] } = {
  user_message_chunk: ["content"],
  agent_message_chunk: ["content"],
  agent_thought_chunk: ["content"],
  tool_call: ["toolCallId"],
  tool_call_update: ["toolCallId"],
  plan: ["entries"],
  usage_update: ["used", "size"],
  session_info_update: [],
  available_commands_update: ["availableCommands"],
  current_mode_update: ["currentModeId"],
  config_option_update: ["configOptions"],
  notice: ["title"],
};

/** The update, or undefined for one that this version does not know: those are ignored. */
export function readUpdate(value: { readonly [key: string]: unknown }): Update | undefined {
  const kind = value["sessionUpdate"];
  if (typeof kind !== "string" || !Object.hasOwn(NEEDED, kind)) return undefined;
  const complete = NEEDED[kind as Update["sessionUpdate"]].every((name) => value[name] != null);
  return complete ? (value as unknown as Update) : undefined;
}

export interface Place {
  readonly uri: string;
  /** Paths of further roots. */
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers: readonly never[];
}

export type NewSessionRequest = Place;

export interface SessionState extends Meta {
  readonly modes: SessionModes;
  readonly configOptions: readonly ConfigOption[];
}

export interface NewSessionResponse extends SessionState {
  readonly sessionId: string;
}

export interface LoadSessionRequest extends Place {
  readonly sessionId: string;
}

export type LoadSessionResponse = SessionState;
export type ResumeSessionRequest = LoadSessionRequest;
export type ResumeSessionResponse = SessionState;
export type ForkSessionRequest = LoadSessionRequest;
export type ForkSessionResponse = NewSessionResponse;

export interface ListSessionsRequest {
  /** Absolute; only sessions there. */
  readonly cwd?: string;
  readonly cursor?: string;
}

export interface SessionInfo extends Meta {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title?: string | null;
  readonly updatedAt?: string | null;
}

export interface ListSessionsResponse {
  readonly sessions: readonly SessionInfo[];
  readonly nextCursor?: string | null;
}

interface SessionOnly {
  readonly sessionId: string;
}

export type CloseSessionRequest = SessionOnly;
export type CloseSessionResponse = unknown;
export type DeleteSessionRequest = SessionOnly;
export type DeleteSessionResponse = unknown;
export type CancelNotification = SessionOnly;

export interface SetSessionTitleRequest extends SessionOnly {
  readonly title: string;
}

export interface SetSessionTitleResponse {
  readonly title: string;
}

export interface PromptRequest extends SessionOnly {
  readonly prompt: readonly ContentBlock[];
}

export interface SetSessionModeRequest extends SessionOnly {
  readonly modeId: string;
}

export type SetSessionModeResponse = unknown;

export interface SetSessionConfigOptionRequest extends SessionOnly {
  readonly configId: string;
  readonly value: string;
}

export interface SetSessionConfigOptionResponse {
  readonly configOptions: readonly ConfigOption[];
}
