// Generated from protocol/schema.json by scripts/protocol.mjs: do not edit, run `npm run protocol`.

import type {
  CancelNotification,
  CloseSessionRequest,
  CloseSessionResponse,
  DeleteSessionRequest,
  DeleteSessionResponse,
  ForkSessionRequest,
  ForkSessionResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  LoadSessionRequest,
  LoadSessionResponse,
  NewSessionRequest,
  NewSessionResponse,
  PromptRequest,
  ResumeSessionRequest,
  ResumeSessionResponse,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
  SetSessionModeRequest,
  SetSessionModeResponse,
  SetSessionTitleRequest,
  SetSessionTitleResponse,
} from "./acp";

export const PROTOCOL_VERSION = 1;
export const SCHEMA_HASH = "8815904a0ca20083";

/** Compare the document with `baseHash`; when equal apply as one undo step, and do not save.

With capability `edit.files` also another `kind`, of documents that are open. `create`: put the text into the empty
document and save it. `delete`: remove the file, and close the document though it has unsaved changes. `rename`:
move the file to `newUri`; the document carries on there, with its text, and unsaved where it was. */
export interface ApplyEdit {
  readonly sessionId: string;
  readonly txn: string;
  readonly uri: string;
  /** The document version that `edits` are for. */
  readonly version: number | null;
  readonly baseHash: string;
  /** All in the document as it was; none overlap; first to last. */
  readonly edits: readonly TextChange[];
  /** Of the document once they are applied. */
  readonly resultHash: string;
  /** For the undo menu. */
  readonly label: string;
  /** Other than `edit` only with capability `edit.files`. */
  readonly kind?: "edit" | "create" | "delete" | "rename";
  /** `rename`: where to; nothing is there but perhaps an empty document without a file. */
  readonly newUri?: string | null;
}

/** A question of the model itself. */
export interface Ask {
  readonly sessionId: string;
  /** The call of `ask_user`, which waits. */
  readonly toolCallId: string;
  readonly question: string;
  /** Answers to choose from, at most nine; none: in words. */
  readonly options: readonly string[];
}

/** A document to ask about, or a part of it. */
export interface AskCommand {
  readonly sessionId?: string | null;
  readonly uri: string;
  readonly range?: Range | null;
  /** Words of the person, beside what the command says anyway. */
  readonly prompt?: string | null;
}

/** What the person says. */
export interface Asked {
  /** One of the options, or words of their own. Null: they do not answer. */
  readonly answer: string | null;
}

/** The tool call that needs a yes. */
export interface AskedCall {
  readonly toolCallId: string;
  readonly title?: string | null;
  /** The tool's. */
  readonly name?: string | null;
  readonly kind?: "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other" | null;
  readonly status?: "pending";
  /** ACP's `ToolCallContent`: the diffs or the command that is asked about, then why. */
  readonly content?: readonly ({ readonly [key: string]: JsonValue })[];
  /** ACP's `ToolCallLocation`: the files that it is about. */
  readonly locations?: readonly ({ readonly [key: string]: JsonValue })[];
}

/** Oldest first. */
export interface CheckpointList {
  readonly checkpoints: readonly CheckpointShown[];
}

/** What would change (`dryRun`), or what did. */
export interface CheckpointRestored {
  /** With `dryRun`. */
  readonly would?: readonly TouchedFile[] | null;
  /** With `dryRun`: the same, from what the files have now to what they would have, to be shown. */
  readonly diffs?: readonly ProposedFile[] | null;
  /** The edit that took the files back; null: there was nothing to change. */
  readonly txn?: string | null;
  /** Of `txn`: `applied`, or why it is not, in `left`; then the conversation stays too. */
  readonly state?: "proposed" | "approved" | "rejected" | "applying" | "verifying" | "applied" | "committed" | "conflict" | "failed" | "reverted" | "abandoned" | null;
  /** Whether the conversation was, or would be, taken back. */
  readonly chat?: boolean;
  /** What that takes out of it, oldest first. */
  readonly prompts?: readonly MovedPrompt[];
  /** The checkpoint to restore, with the same `files` and `chat`, to undo this. */
  readonly undo?: string | null;
  readonly left?: readonly LeftAlone[];
  /** What is not covered, in a sentence for the person: what commands did since then. */
  readonly note?: string | null;
}

/** The moment before a turn, before a restore or a revert, or before the conversation was taken back. */
export interface CheckpointShown {
  readonly id: string;
  /** Null: before something else than a turn. */
  readonly turnId: string | null;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly title: string;
  /** What happened to files up to the next checkpoint; none for a turn that changed nothing. */
  readonly files: readonly TouchedFile[];
  /** What the person said in that turn, in full. */
  readonly prompt?: string | null;
  /** Whether the conversation can be taken back to here. */
  readonly chat?: boolean;
}

/** What a client with our plugin declares. */
export interface ClientCapabilities {
  readonly version?: 1;
  /** Wants `agent/session/update` and `agent/status`. */
  readonly sessionUpdate?: boolean;
  /** Answers `agent/session/request_permission`. */
  readonly permission?: boolean;
  /** Answers `agent/ask`. */
  readonly ask?: boolean;
  /** LSP: wants the server's code actions; a client with `sessionUpdate` is taken to have its own. */
  readonly codeActions?: boolean;
  /** Wants no more updates than these of texts that grow. Null: each piece at once, and fewer in a flood of them. */
  readonly updatesPerSecond?: number | null;
  readonly edit?: EditCapabilities;
  readonly editor?: EditorCapabilities;
}

/** The work goes on in this session. */
export interface CommandStarted {
  readonly sessionId: string;
  /** The turn that was begun; null when none was. */
  readonly turnId?: string | null;
}

/** Money. */
export interface Cost {
  /** A decimal number. */
  readonly amount: string;
  readonly currency?: "USD";
}

/** One item per file that you watch, also when nothing is wrong with it; no item for others. */
export interface DiagnosticsReport {
  readonly items: readonly DocumentDiagnostics[];
}

/** What is wrong with these files, as the editor knows now. */
export interface DiagnosticsRequest {
  readonly sessionId: string;
  /** Null: every file that you have diagnostics of. */
  readonly uris?: readonly string[] | null;
}

/** A file of an edit. */
export interface DiffFile {
  readonly uri: string;
  /** Where a renamed file was. */
  readonly oldUri?: string | null;
  readonly kind: "edit" | "create" | "delete" | "rename";
}

/** Whether the person sees it; decides nothing. */
export interface DiffOpened {
  readonly shown: boolean;
}

/** The diagnostics of one file. */
export interface DocumentDiagnostics {
  readonly uri: string;
  /** Of the document they are about; null: not open, or not known. */
  readonly version?: number | null;
  /** Whether they are about the text as it is now; null: you cannot tell. */
  readonly settled?: boolean | null;
  readonly diagnostics: readonly WireDiagnostic[];
}

/** Whether the document on disk is now what the editor shows. */
export interface DocumentSaved {
  readonly saved: boolean;
}

/** One for each that was named. */
export interface DocumentsReloaded {
  readonly documents: readonly ReloadedDocument[];
}

/** The six public reasons; everything finer is a detail from a closed set. */
export type DoneReason = "model_stop" | "max_turns" | "user_abort" | "error" | "budget_exceeded" | "loop_detected";

/** What the client did. `applied` without `hash` is verified by waiting ≤ 2 s for didChange. */
export interface EditApplied {
  readonly outcome: "applied" | "stale" | "declined" | "failed";
  readonly version?: number | null;
  /** Of the document as it is now. */
  readonly hash?: string | null;
  readonly reason?: string | null;
}

/** How the client takes part in reviewing and applying edits. */
export interface EditCapabilities {
  /** Shows `agent/edit/proposed` and answers with `agent/edit/resolve`. */
  readonly proposed?: boolean;
  /** Applies an edit to an open document when it gets `agent/edit/apply`. */
  readonly apply?: boolean;
  /** Also creates, deletes and renames documents that are open, when it gets `agent/edit/apply` of such a `kind`. */
  readonly files?: boolean;
}

/** One side of a change, whole; null where that side does not exist. */
export interface EditContent {
  readonly text: string | null;
}

/** Asks for a text that was too large to be in `agent/edit/proposed`. */
export interface EditContentRequest {
  readonly txn: string;
  readonly uri: string;
  readonly side: "base" | "new";
}

/** A verdict on one hunk, one file (no `hunk`) or everything (no `uri`). */
export interface EditDecision {
  readonly uri?: string | null;
  readonly hunk?: string | null;
  readonly verdict: "accept" | "reject";
  /** With `accept` of a whole file: the text that the person wants instead of the proposed one. */
  readonly editedText?: string | null;
}

/** An edit to show as a diff. A new revision is sent whole again. */
export interface EditProposed {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly toolCallId: string;
  /** Names this edit in every message about it. */
  readonly txn: string;
  /** Counts the changes of the proposal; a decision names the one it was made on. */
  readonly revision: number;
  /** `ask`: the turn waits for `agent/edit/resolve`. `staged`: not on disk, asked about later together with others.
`applied`: done already, shown for review. */
  readonly review: "ask" | "staged" | "applied";
  /** Why the person is asked. */
  readonly reason?: string | null;
  /** How far a yes may reach. */
  readonly scopes?: readonly ("once" | "session" | "workspace")[];
  readonly files: readonly ProposedFile[];
}

/** What the proposal is now. Answered before anything is applied. */
export interface EditResolved {
  readonly txn: string;
  readonly revision: number;
  /** `proposed`: some hunks are still undecided. */
  readonly state: "proposed" | "approved" | "rejected";
}

/** What came of it. */
export interface EditReverted {
  /** The edit that takes the other one back, and can be taken back itself; null when there was nothing to do. */
  readonly txn: string | null;
  /** Of `txn`. `applied` without `txn`: nothing of the edit was there any more; `conflict`: all of it was left. */
  readonly state: "proposed" | "approved" | "rejected" | "applying" | "verifying" | "applied" | "committed" | "conflict" | "failed" | "reverted" | "abandoned";
  readonly left?: readonly LeftAlone[];
}

/** Sent after every change of an edit's state. */
export interface EditStateChanged {
  readonly sessionId: string;
  readonly txn: string;
  readonly revision: number;
  readonly state: "proposed" | "approved" | "rejected" | "applying" | "verifying" | "applied" | "committed" | "conflict" | "failed" | "reverted" | "abandoned";
  readonly files: readonly FileNow[];
}

/** What the server may ask of the editor. */
export interface EditorCapabilities {
  /** Answers `agent/editor/save`. */
  readonly save?: boolean;
  /** Answers `agent/editor/reload`. */
  readonly reload?: boolean;
  /** Answers `agent/editor/diagnostics`. */
  readonly diagnostics?: boolean;
  /** Answers `agent/editor/selection`. */
  readonly selection?: boolean;
  /** Answers `agent/editor/openFiles`. */
  readonly openFiles?: boolean;
  /** Answers `agent/editor/openDiff`, which comes for the command `agent.showChanges` only. */
  readonly openDiff?: boolean;
}

/** A document that the person has open. */
export interface EditorFile {
  readonly uri: string;
  /** It has changes that are not saved. */
  readonly dirty?: boolean;
  /** How: other than as text it has no document of LSP, and the server proposes and writes no edit of it. `custom`: an
editor of its own that does not show its text, such as one for pictures or bytes. */
  readonly kind?: "text" | "notebook" | "custom";
}

/** In tabs or windows; not what only a plugin holds open. */
export interface EditorFiles {
  readonly files: readonly EditorFile[];
}

/** Where the person is, in the document they are in or were in last. */
export interface EditorSelection {
  /** Null: in none. */
  readonly uri?: string | null;
  /** Empty: only a cursor. */
  readonly range?: Range | null;
  /** What is selected. */
  readonly text?: string | null;
}

/** The `data` of an error. The sentence for people is the error's `message`. */
export interface ErrorData {
  /** One snake_case word. */
  readonly reason: string;
  readonly details?: string | null;
  /** The same sentence, for clients that look here. */
  readonly error?: string | null;
  readonly retryable?: boolean;
  readonly turnId?: string | null;
}

/** Words for the model, beside an answer. */
export interface Feedback {
  readonly feedback?: string | null;
}

/** The `_meta` of an outcome. */
export interface FeedbackMeta {
  readonly "agent-server"?: Feedback | null;
}

/** A file's part in the state of an edit. */
export interface FileNow {
  readonly uri: string;
  readonly state: "proposed" | "approved" | "rejected" | "applying" | "verifying" | "applied" | "committed" | "conflict" | "failed" | "reverted" | "abandoned";
  /** Of the document as we know it; null: not open in the editor, or it says no versions (ACP). */
  readonly version?: number | null;
  /** Of the text that the edit left behind, with `applied` and `committed`; null else, and where the file is gone. */
  readonly hash?: string | null;
  /** Why, for the person. */
  readonly message?: string | null;
  readonly hunks?: readonly HunkNow[];
}

/** What is wrong there. */
export interface FixCommand {
  readonly sessionId?: string | null;
  readonly uri: string;
  readonly range?: Range | null;
  /** Words of the person, beside what the command says anyway. */
  readonly prompt?: string | null;
  /** Empty: whatever is wrong in the document or the range. */
  readonly diagnostics?: readonly ProblemToFix[];
}

/** Asks for a proposal again, after a stale revision or a restart of the client. */
export interface GetEdit {
  readonly txn: string;
}

/** One hunk of a proposal that is open. */
export interface HunkCommand {
  readonly txn: string;
  /** The one that the person saw; null: whichever it is. */
  readonly revision?: number | null;
  readonly uri: string;
  readonly hunk: string;
}

/** A hunk's state. */
export interface HunkNow {
  readonly id: string;
  readonly state: "pending" | "accepted" | "rejected" | "applied" | "conflict";
}

export type JsonValue = unknown;

/** Something that was not taken back. */
export interface LeftAlone {
  readonly uri: string;
  /** Null: the whole file. */
  readonly hunk?: string | null;
  /** A sentence for the person. */
  readonly why: string;
}

/** Asks what a session can be taken back to. */
export interface ListCheckpoints {
  readonly sessionId: string;
}

/** Whose sessions. */
export interface ListSessionsCommand {
  /** A folder; null: the current one. */
  readonly uri?: string | null;
}

/** Asks what the person has before them, as a turn begins. */
export interface LookAtEditor {
  readonly sessionId: string;
}

/** Something the person said, with what the agent answered. */
export interface MovedPrompt {
  readonly text: string;
  /** Out of the conversation, or, when a rewinding is undone, back into it. */
  readonly change: "goes" | "comes";
}

/** Where the session works. */
export interface NewSessionCommand {
  /** A folder; null: the first workspace folder. */
  readonly uri?: string | null;
}

/** Show an edit; its texts came with `agent/edit/proposed`, or are in `agent/edit/content`. */
export interface OpenDiff {
  readonly sessionId: string;
  readonly txn: string;
  readonly files: readonly DiffFile[];
}

/** The person's answer. Null, an error and an unknown option mean no. */
export interface PermissionAnswer {
  readonly outcome: PermissionOutcome;
}

/** One way to answer. */
export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
}

/** What was picked. */
export interface PermissionOutcome {
  readonly outcome: "selected" | "cancelled";
  /** With `selected`. */
  readonly optionId?: string | null;
  readonly _meta?: FeedbackMeta | null;
}

/** A place in a document, as in LSP. */
export interface Position {
  /** 0-based. */
  readonly line: number;
  /** 0-based, in units of the negotiated position encoding (over ACP: UTF-16). */
  readonly character: number;
}

/** A diagnostic, as LSP has it; what is not here is ignored. */
export interface ProblemToFix {
  readonly message: string;
  readonly range?: Range | null;
  readonly source?: string | null;
  readonly code?: string | number | null;
}

/** Prompt the agent; a bare string is taken as `prompt`. */
export interface PromptCommand {
  readonly prompt: string;
  /** Null: the root's current session, made when there is none. */
  readonly sessionId?: string | null;
  /** A document to attach. */
  readonly uri?: string | null;
  /** The part of it that is meant. */
  readonly range?: Range | null;
}

/** The `_meta` of a prompt's result. */
export interface PromptMeta {
  readonly "agent-server": TurnResult;
}

/** The turn is over and settled; also after a cancellation, which is not an error. */
export interface PromptResult {
  readonly stopReason: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";
  readonly _meta: PromptMeta;
}

/** The change to one file. */
export interface ProposedFile {
  readonly uri: string;
  /** Where a renamed file was. */
  readonly oldUri?: string | null;
  readonly kind: "edit" | "create" | "delete" | "rename";
  /** The document version the change was made against; null: not open in the editor. */
  readonly baseVersion?: number | null;
  /** `sha256:…` over the UTF-8 of the base text: its own line ends, no byte order mark. Null: created. */
  readonly baseHash?: string | null;
  /** Null: created, or larger than 1 MiB (then ask `agent/edit/content`). */
  readonly baseText?: string | null;
  /** Null: deleted, or larger than 1 MiB (then ask `agent/edit/content`). */
  readonly newText?: string | null;
  readonly hunks?: readonly ProposedHunk[];
}

/** One contiguous replacement, which can be decided alone. */
export interface ProposedHunk {
  /** Stable while its lines and their surroundings stay the same; not an index. */
  readonly id: string;
  /** In the base text. */
  readonly range: Range;
  readonly oldText: string;
  readonly newText: string;
}

/** The `_meta` of a question. */
export interface QuestionMeta {
  readonly "agent-server"?: QuestionTerms | null;
}

/** What ACP's question has no field for. A field that is absent has its default. */
export interface QuestionTerms {
  /** On the safety floor: no automatic yes may answer it, and a yes reaches no further than once. */
  readonly floor?: boolean;
  /** Why it is asked, in words for the user; for a place outside of the workspace: which. */
  readonly reason?: string | null;
  /** The running call whose sub-agent asks; `toolCall` is then one made for the question alone. Null: the agent
that the person talks to asks. */
  readonly within?: string | null;
}

/** From `start` up to, not including, `end`. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** Open documents whose file says something else than their text: reload those without unsaved changes.

Never ask anything, never write, and never throw unsaved changes away. */
export interface ReloadDocuments {
  readonly sessionId: string;
  readonly uris: readonly string[];
}

/** What one document is now. */
export interface ReloadedDocument {
  readonly uri: string;
  /** `modified`: it has unsaved changes and was left alone, which you also show. `unchanged`: its text is the file's,
or the file cannot be read. `closed`: you do not have it open (any more). */
  readonly outcome: "reloaded" | "modified" | "unchanged" | "closed";
  /** Of the document after the reload: the server waits for the didChange that leads there, for up to 2 s. */
  readonly version?: number | null;
}

/** A question to the person, as ACP's `session/request_permission`. */
export interface RequestPermission {
  readonly sessionId: string;
  readonly toolCall: AskedCall;
  /** In the order to show them. */
  readonly options: readonly PermissionOption[];
  readonly _meta?: QuestionMeta | null;
}

/** Decisions on a proposal. They accumulate; the gate opens when nothing is left undecided. */
export interface ResolveEdit {
  readonly txn: string;
  readonly revision: number;
  readonly decisions: readonly EditDecision[];
  readonly remember?: "once" | "session" | "workspace";
  /** Words for the model, mostly why not. */
  readonly feedback?: string | null;
}

/** Take a session back: its files, its conversation, or both; shows first what that would do, unless told otherwise.

Refused with `turn_running` while a prompt is answered. */
export interface RestoreCheckpoint {
  readonly sessionId: string;
  readonly id: string;
  readonly files?: boolean;
  /** Nothing is deleted, and it can be undone. `session/load` shows the conversation as it stands then. */
  readonly chat?: boolean;
  /** Only say what would change. */
  readonly dryRun?: boolean;
  /** Also files that somebody else changed since; else they are left alone. */
  readonly others?: boolean;
}

/** Take back an edit that was applied, or a part of it: one file, one hunk. */
export interface RevertEdit {
  readonly txn: string;
  /** The one last heard of. */
  readonly revision: number;
  /** Null: all of it. */
  readonly uri?: string | null;
  /** Null: all of the file. */
  readonly hunk?: string | null;
}

/** Which proposal is decided; null: every open one. */
export interface ReviewCommand {
  readonly txn?: string | null;
}

/** Save an open document. */
export interface SaveDocument {
  readonly uri: string;
}

/** What this server serves. */
export interface ServerCapabilities {
  readonly version?: 1;
  /** Every request and notification that a client may send. */
  readonly methods: readonly string[];
  /** For `workspace/executeCommand`; empty over ACP. */
  readonly commands: readonly string[];
}

/** Names a session; null: the current one. */
export interface SessionCommand {
  readonly sessionId?: string | null;
}

/** A stored session. */
export interface SessionListed {
  readonly sessionId: string;
  readonly title?: string | null;
  readonly cwd: string;
  /** ISO 8601 in UTC. */
  readonly updatedAt: string;
}

/** One piece of a turn, in order. Over ACP `seq` and `turnId` are in `_meta["agent-server"]`. */
export interface SessionUpdate {
  readonly sessionId: string;
  /** From 1 per connection and session, without gaps. */
  readonly seq: number;
  /** Null between turns, and while a stored conversation is replayed. */
  readonly turnId: string | null;
  /** ACP's `SessionUpdate` object, told apart by `sessionUpdate`; `UpdateTerms` are in its `_meta`. */
  readonly update: { readonly [key: string]: JsonValue };
}

/** The latest first; the first page of them. */
export interface SessionsListed {
  readonly sessions: readonly SessionListed[];
}

/** Which mode from now on. */
export interface SetModeCommand {
  readonly sessionId?: string | null;
  readonly mode: "ask" | "accept_edits" | "plan" | "auto";
}

/** Which model from now on. */
export interface SetModelCommand {
  readonly sessionId?: string | null;
  readonly model: string;
}

/** What a status bar shows. Sent at each change of state, and once after new and load. */
export interface Status {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly state: "thinking" | "streaming" | "executing" | "confirming" | "compacting" | "done";
  /** For people. */
  readonly label: string;
  readonly busy: boolean;
  /** With `done` after a turn: why it ended. */
  readonly reason?: DoneReason | null;
  readonly detail?: "text" | "tool_ended" | "soft_stop" | "truncated" | "refusal" | "summary" | "no_summary" | "cancel" | "redirect" | "approval_cancelled" | "shutdown" | "same_error_cap" | "provider" | "auth" | "billing" | "empty_response" | "incomplete_response" | "context_full" | "invalid" | "persistence" | "internal" | "tokens" | "cost" | "wall_time" | "same_call" | "cycle" | "empty_results" | null;
}

/** Something said to a session while it works. */
export interface SteerTurn {
  readonly sessionId: string;
  /** A turn of its own after the others · heard at the next step · at once, dropping what streams · end softly. */
  readonly mode: "queue" | "steer" | "redirect" | "stop";
  /** ACP's content blocks; none with `stop`. */
  readonly prompt?: readonly ({ readonly [key: string]: JsonValue })[];
  /** The turn that is meant. Required, except with `queue`. */
  readonly expectedTurnId?: string | null;
}

/** One replacement in a document. */
export interface TextChange {
  readonly range: Range;
  readonly newText: string;
}

/** What happens, or happened, to a file. */
export interface TouchedFile {
  readonly uri: string;
  readonly change: "edit" | "create" | "delete" | "rename";
}

/** How a turn of a stored conversation ended: what its prompt was answered with then. */
export interface TurnEnd {
  readonly turnId: string;
  readonly reason: DoneReason;
  readonly detail: "text" | "tool_ended" | "soft_stop" | "truncated" | "refusal" | "summary" | "no_summary" | "cancel" | "redirect" | "approval_cancelled" | "shutdown" | "same_error_cap" | "provider" | "auth" | "billing" | "empty_response" | "incomplete_response" | "context_full" | "invalid" | "persistence" | "internal" | "tokens" | "cost" | "wall_time" | "same_call" | "cycle" | "empty_results";
  readonly usage: TurnUsage;
}

/** What the prompt's result says besides ACP's `stopReason`. */
export interface TurnResult {
  readonly turnId: string;
  readonly reason: DoneReason;
  readonly detail: "text" | "tool_ended" | "soft_stop" | "truncated" | "refusal" | "summary" | "no_summary" | "cancel" | "redirect" | "approval_cancelled" | "shutdown" | "same_error_cap" | "provider" | "auth" | "billing" | "empty_response" | "incomplete_response" | "context_full" | "invalid" | "persistence" | "internal" | "tokens" | "cost" | "wall_time" | "same_call" | "cycle" | "empty_results";
  readonly usage: TurnUsage;
  /** Prompts steered into the turn that it did not hear: content blocks each, to be given back to the person. */
  readonly unread?: readonly (readonly ({ readonly [key: string]: JsonValue })[])[] | null;
}

/** What became of it. */
export interface TurnSteered {
  readonly outcome: "steered" | "redirected" | "queued" | "started" | "stopping";
  /** The turn that hears it. */
  readonly turnId: string;
}

/** Tokens of a turn. */
export interface TurnUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedReadTokens: number;
  /** Null: unknown, not free. */
  readonly cost: Cost | null;
}

/** How much is taken back. */
export interface UndoCommand {
  readonly sessionId?: string | null;
  /** All edits of the last turn that made any, instead of the last edit. */
  readonly turn?: boolean;
}

/** `_meta["agent-server"]` of an update: what ACP has no field for. What is absent is not said. */
export interface UpdateTerms {
  /** Of `tool_call_update`: the next piece of the raw JSON that the model is writing. */
  readonly argumentsDelta?: string | null;
  /** The `messageId` whose text is void: the answer broke off and starts again. */
  readonly discarded?: string | null;
  /** Of a call that ended: its outcome in a few words. */
  readonly summary?: string | null;
  /** Of a call that ended: why it failed, one word; `denied` when the person said no. */
  readonly code?: string | null;
  /** Of a call that ended: whether it touched the world. */
  readonly effect?: "none" | "confirmed" | "unknown" | null;
  /** Of a call that ended: how long it ran. */
  readonly seconds?: number | null;
  /** Of `session_info_update`, in a replay: everything of that turn has been shown. */
  readonly turnEnd?: TurnEnd | null;
}

/** One diagnostic, as in LSP. */
export interface WireDiagnostic {
  readonly range: Range;
  /** Error, warning, information, hint; null: error. */
  readonly severity?: 1 | 2 | 3 | 4 | null;
  readonly code?: number | string | null;
  readonly source?: string | null;
  readonly message: string;
}

/** What the client sends: requests. */
export interface ClientRequests {
  readonly "agent/session/new": { readonly params: NewSessionRequest; readonly result: NewSessionResponse };
  readonly "agent/session/load": { readonly params: LoadSessionRequest; readonly result: LoadSessionResponse };
  readonly "agent/session/resume": { readonly params: ResumeSessionRequest; readonly result: ResumeSessionResponse };
  readonly "agent/session/fork": { readonly params: ForkSessionRequest; readonly result: ForkSessionResponse };
  readonly "agent/session/list": { readonly params: ListSessionsRequest; readonly result: ListSessionsResponse };
  readonly "agent/session/close": { readonly params: CloseSessionRequest; readonly result: CloseSessionResponse };
  readonly "agent/session/delete": { readonly params: DeleteSessionRequest; readonly result: DeleteSessionResponse };
  readonly "agent/session/set_title": { readonly params: SetSessionTitleRequest; readonly result: SetSessionTitleResponse };
  readonly "agent/session/prompt": { readonly params: PromptRequest; readonly result: PromptResult };
  readonly "agent/session/set_mode": { readonly params: SetSessionModeRequest; readonly result: SetSessionModeResponse };
  readonly "agent/session/set_config_option": { readonly params: SetSessionConfigOptionRequest; readonly result: SetSessionConfigOptionResponse };
  readonly "agent/session/steer": { readonly params: SteerTurn; readonly result: TurnSteered };
  readonly "agent/edit/resolve": { readonly params: ResolveEdit; readonly result: EditResolved };
  readonly "agent/edit/get": { readonly params: GetEdit; readonly result: EditProposed };
  readonly "agent/edit/content": { readonly params: EditContentRequest; readonly result: EditContent };
  readonly "agent/edit/revert": { readonly params: RevertEdit; readonly result: EditReverted };
  readonly "agent/checkpoint/list": { readonly params: ListCheckpoints; readonly result: CheckpointList };
  readonly "agent/checkpoint/restore": { readonly params: RestoreCheckpoint; readonly result: CheckpointRestored };
}

/** What the client sends: notifications. */
export interface ClientNotifications {
  readonly "agent/session/cancel": { readonly params: CancelNotification };
}

/** What the server sends: requests. */
export interface ServerRequests {
  readonly "agent/session/request_permission": { readonly params: RequestPermission; readonly result: PermissionAnswer };
  readonly "agent/ask": { readonly params: Ask; readonly result: Asked };
  readonly "agent/edit/apply": { readonly params: ApplyEdit; readonly result: EditApplied };
  readonly "agent/editor/save": { readonly params: SaveDocument; readonly result: DocumentSaved };
  readonly "agent/editor/reload": { readonly params: ReloadDocuments; readonly result: DocumentsReloaded };
  readonly "agent/editor/diagnostics": { readonly params: DiagnosticsRequest; readonly result: DiagnosticsReport };
  readonly "agent/editor/selection": { readonly params: LookAtEditor; readonly result: EditorSelection };
  readonly "agent/editor/openFiles": { readonly params: LookAtEditor; readonly result: EditorFiles };
  readonly "agent/editor/openDiff": { readonly params: OpenDiff; readonly result: DiffOpened };
}

/** What the server sends: notifications. */
export interface ServerNotifications {
  readonly "agent/session/update": { readonly params: SessionUpdate };
  readonly "agent/status": { readonly params: Status };
  readonly "agent/edit/proposed": { readonly params: EditProposed };
  readonly "agent/edit/state": { readonly params: EditStateChanged };
}
