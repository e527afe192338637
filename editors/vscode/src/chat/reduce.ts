/** The conversation after an event. Pure; unknown and late events change nothing. */

import type { ContentBlock, Update } from "../protocol/acp";
import { readContent } from "../protocol/acp";
import type { Ask, PromptResult, QuestionTerms, RequestPermission, Status, TurnUsage } from "../protocol/messages";
import type { ChatEvent } from "./events";
import type { AskItem, ChatState, EndItem, Item, QuestionItem, ThoughtItem, ToolItem } from "./state";
import { askedOutput, blockText, mergeTool, newTool } from "./tools";

export function apply(chat: ChatState, event: ChatEvent): ChatState {
  switch (event.kind) {
    case "opened":
      return {
        ...chat,
        modes: event.session.modes,
        options: event.session.configOptions,
        readOnly: event.session._meta?.["agent-server"]?.readOnly ?? null,
        loading: false,
      };
    case "prompted":
      return { ...chat, waiting: [...chat.waiting, event.waiting] };
    case "update":
      return update(chat, event.update, event.live, event.at);
    case "status":
      return status(chat, event.status, event.at);
    case "answered":
      return answered(promote(chat, event.waitingId), event.result, event.at);
    case "failed":
      return failed(promote(chat, event.waitingId), event.waitingId, event.message);
    case "asked":
      return append(chat, question(event.id, event.request));
    case "modelAsked":
      return append(chat, asked(event.id, event.request));
    case "settled":
      return settled(chat, event.id, event.answer);
    case "withdrawn":
      return { ...chat, waiting: chat.waiting.filter((one) => one.id !== event.waitingId) };
    case "lost":
      return lost(settleAll(chat, event.at, "not finished: the server stopped"));
  }
}

// ---- what streams --------------------------------------------------------------------------------

function update(chat: ChatState, told: Update, live: boolean, at: number): ChatState {
  switch (told.sessionUpdate) {
    case "user_message_chunk":
      return userChunk(chat, told.messageId ?? "user", told.content);
    case "agent_message_chunk":
      return messageChunk(closeThought(chat, at), told.messageId, told.content);
    case "agent_thought_chunk": {
      const discarded = told._meta?.["agent-server"]?.discarded;
      return discarded === undefined
        ? thoughtChunk(chat, told.messageId, told.content, live, at)
        : { ...chat, items: chat.items.filter((item) => item.id !== discarded) };
    }
    case "tool_call":
      return toolCall(closeThought(chat, at), told, at);
    case "tool_call_update":
      return change(chat, told.toolCallId, "tool", (item) => mergeTool(item, told, at));
    case "plan":
      return { ...chat, plan: told.entries };
    case "usage_update":
      return {
        ...chat,
        usage: { used: told.used, size: told.size, cost: told.cost?.amount ?? chat.usage?.cost ?? null },
      };
    case "session_info_update": {
      const end = told._meta?.["agent-server"]?.turnEnd;
      if (end !== undefined) return append(chat, endOf(end, null));
      return told.title === undefined ? chat : { ...chat, title: told.title };
    }
    case "available_commands_update":
      return { ...chat, commands: told.availableCommands };
    case "current_mode_update":
      return chat.modes === null ? chat : { ...chat, modes: { ...chat.modes, currentModeId: told.currentModeId } };
    case "config_option_update":
      return { ...chat, options: told.configOptions };
    case "notice":
      return append(chat, {
        kind: "notice",
        id: `notice-${chat.items.length}`,
        severity: told.severity,
        title: told.title,
        description: told.description ?? null,
      });
  }
}

/**
 * What was steered into a turn, what another client queued, and every prompt of a replay. One message comes in several
 * chunks, one for each content block.
 */
function userChunk(told: ChatState, id: string, content: ContentBlock): ChatState {
  const chat = content.type === "text" ? heard(told, content.text) : told;
  const last = chat.items.at(-1);
  const start =
    last?.kind === "user" && last.id === id ? chat : append(chat, { kind: "user", id, text: "", attached: [] });
  return change(start, id, "user", (item) =>
    content.type === "text"
      ? { ...item, text: item.text + content.text }
      : { ...item, attached: [...item.attached, attachedName(content)] },
  );
}

/** What was said to the running turn has been heard: it waits no longer. */
function heard(chat: ChatState, text: string): ChatState {
  const one = chat.waiting.find((waiting) => waiting.how !== "prompt" && waiting.text === text);
  return one === undefined ? chat : { ...chat, waiting: chat.waiting.filter((waiting) => waiting !== one) };
}

/** What an attached block is called. */
export function attachedName(content: ContentBlock): string {
  switch (content.type) {
    case "text":
      return "text";
    case "image":
      return "image";
    case "resource_link":
      return content.name;
    case "resource":
      return decodeURIComponent(content.resource.uri.split("/").at(-1) ?? "");
  }
}

function messageChunk(chat: ChatState, given: string | null | undefined, content: ContentBlock): ChatState {
  const text = blockText(content);
  const id = given ?? lastId(chat, "message");
  const last = chat.items.at(-1);
  if (last?.kind === "message" && last.id === id) {
    return { ...chat, items: [...chat.items.slice(0, -1), { ...last, text: last.text + text }] };
  }
  return append(chat, { kind: "message", id, text });
}

function thoughtChunk(
  chat: ChatState,
  given: string | null | undefined,
  content: ContentBlock,
  live: boolean,
  at: number,
): ChatState {
  const text = blockText(content);
  const id = given ?? lastId(chat, "thought");
  const last = chat.items.at(-1);
  if (last?.kind === "thought" && last.id === id) {
    return { ...chat, items: [...chat.items.slice(0, -1), { ...last, text: last.text + text }] };
  }
  const since = live ? at : 0;
  return append(closeThought(chat, at), { kind: "thought", id, text, since, seconds: null });
}

/** Chunks without an id belong to the message that is being said. */
function lastId(chat: ChatState, kind: "message" | "thought"): string {
  const last = chat.items.at(-1);
  return last?.kind === kind ? last.id : `${kind}-${chat.items.length}`;
}

/** Something else follows: the thought took as long as it took. */
function closeThought(chat: ChatState, at: number): ChatState {
  const last = chat.items.at(-1);
  if (last?.kind !== "thought" || last.seconds !== null || last.since === 0) return chat;
  const closed = { ...last, seconds: (at - last.since) / 1000 };
  return { ...chat, items: [...chat.items.slice(0, -1), closed] };
}

function toolCall(
  chat: ChatState,
  told: Extract<Update, { readonly sessionUpdate: "tool_call" }>,
  at: number,
): ChatState {
  const known = chat.items.some((item) => item.kind === "tool" && item.id === told.toolCallId);
  return known
    ? change(chat, told.toolCallId, "tool", (item) => mergeTool(item, told, at))
    : append(chat, newTool(told, at));
}

// ---- turns ---------------------------------------------------------------------------------------

function status(chat: ChatState, told: Status, at: number): ChatState {
  const { state, label, busy, turnId } = told;
  const now = { state, label, busy, turnId };
  if (!busy) return { ...settleAll(chat, at, UNFINISHED), status: now };
  if (chat.status.busy && chat.status.turnId === turnId) return { ...chat, status: now };
  // A turn begins: that of the prompt that has waited longest.
  const first = chat.waiting.find((one) => one.how === "prompt");
  return { ...(first === undefined ? chat : promote(chat, first.id)), status: now, turnSince: at };
}

const UNFINISHED = "not finished";

/** Nothing runs any more: what was still open is not, whoever forgot to say so. */
function settleAll(chat: ChatState, at: number, why: string): ChatState {
  if (!chat.items.some(isOpen)) return chat;
  return { ...chat, items: chat.items.map((item) => (isOpen(item) ? settleItem(item, at, why) : item)) };
}

function isOpen(item: Item): item is ToolItem | ThoughtItem {
  if (item.kind === "thought") return item.seconds === null && item.since > 0;
  return item.kind === "tool" && (item.status === "pending" || item.status === "in_progress");
}

function settleItem(item: ToolItem | ThoughtItem, at: number, why: string): Item {
  return item.kind === "tool"
    ? { ...item, status: "failed", summary: why }
    : { ...item, seconds: (at - item.since) / 1000 };
}

/** A prompt that waited becomes part of the conversation; one that no longer waits is there already. */
function promote(chat: ChatState, waitingId: string): ChatState {
  const prompt = chat.waiting.find((one) => one.id === waitingId);
  if (prompt === undefined) return chat;
  const { id, text, attached } = prompt;
  const waiting = chat.waiting.filter((one) => one !== prompt);
  return append({ ...chat, waiting }, { kind: "user", id, text, attached });
}

const STOPPED: { readonly [Reason in PromptResult["_meta"]["agent-server"]["reason"]]: string | null } = {
  model_stop: null,
  max_turns: "Stopped: step limit reached",
  user_abort: "Cancelled",
  error: "Failed",
  budget_exceeded: "Stopped: budget used up",
  loop_detected: "Stopped: repeating itself",
};

function answered(chat: ChatState, result: PromptResult, at: number): ChatState {
  const turn = result._meta["agent-server"];
  const end = endOf(turn, chat.turnSince === null ? null : (at - chat.turnSince) / 1000);
  // What it did not hear is given back to the person by the host.
  const waiting = chat.waiting.filter((one) => one.how === "prompt");
  const ended = { ...settleAll(chat, at, UNFINISHED), waiting, turnSince: null };
  return append(ended, result.stopReason === "refusal" ? { ...end, why: REFUSED } : end);
}

const REFUSED = "The model refused";

interface Ended {
  readonly turnId: string;
  readonly reason: PromptResult["_meta"]["agent-server"]["reason"];
  readonly detail: string;
  readonly usage: TurnUsage;
}

/** The last line of a turn, also of one that ended long ago: then nobody knows how long it took. */
function endOf({ turnId, reason, detail, usage }: Ended, seconds: number | null): EndItem {
  return {
    kind: "end",
    id: `end-${turnId}`,
    why: detail === "refusal" ? REFUSED : STOPPED[reason],
    failed: reason === "error",
    tokens: usage.inputTokens + usage.outputTokens,
    cost: usage.cost?.amount ?? null,
    seconds,
  };
}

function failed(chat: ChatState, id: string, message: string): ChatState {
  const end: EndItem = {
    kind: "end",
    id: `end-${id}`,
    why: message,
    failed: true,
    tokens: null,
    cost: null,
    seconds: null,
  };
  return { ...append(chat, end), turnSince: null };
}

function lost(chat: ChatState): ChatState {
  const open = chat.items.map((item) =>
    (item.kind === "question" || item.kind === "ask") && item.answer === null
      ? { ...item, answer: "Not answered: the server stopped" }
      : item,
  );
  return {
    ...chat,
    items: open,
    waiting: [],
    turnSince: null,
    status: { state: "done", label: "", busy: false, turnId: null },
  };
}

// ---- questions -----------------------------------------------------------------------------------

function question(id: string, request: RequestPermission): QuestionItem {
  const call = request.toolCall;
  return {
    kind: "question",
    id,
    title: call.title ?? "",
    toolKind: call.kind ?? "other",
    detail: withReason(askedOutput(readContent(call.content ?? [])), request._meta?.["agent-server"]),
    options: request.options,
    answer: null,
  };
}

/** Why it is asked, where that is not said already. */
function withReason(
  detail: string,
  meta: (QuestionTerms & { readonly reason?: string | null }) | null | undefined,
): string {
  const reason = meta?.reason ?? "";
  return reason === "" || detail.includes(reason) ? detail : `${detail}\n\nWhy you are asked: ${reason}`.trim();
}

function asked(id: string, { question, options }: Ask): AskItem {
  return { kind: "ask", id, question, options, answer: null };
}

function settled(chat: ChatState, id: string, answer: string): ChatState {
  const at = chat.items.findLastIndex((item) => item.id === id && (item.kind === "question" || item.kind === "ask"));
  const item = chat.items[at];
  if (item === undefined || !("answer" in item) || item.answer !== null) return chat;
  return { ...chat, items: chat.items.with(at, { ...item, answer }) };
}

// ---- items ---------------------------------------------------------------------------------------

function append(chat: ChatState, item: Item): ChatState {
  return { ...chat, items: [...chat.items, item] };
}

/** The last item of that kind and id, changed: what changes is nearly always near the end. */
function change<Kind extends Item["kind"]>(
  chat: ChatState,
  id: string,
  kind: Kind,
  how: (item: Extract<Item, { readonly kind: Kind }>) => Item,
): ChatState {
  const at = chat.items.findLastIndex((item) => item.kind === kind && item.id === id);
  if (at < 0) return chat;
  const item = chat.items[at] as Extract<Item, { readonly kind: Kind }>;
  return { ...chat, items: chat.items.with(at, how(item)) };
}
