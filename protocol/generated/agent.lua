---@meta agent.protocol
-- Generated from protocol/schema.json by scripts/protocol_types.py: do not edit, run `make schema`.

--- Compare the document with `baseHash`; when equal apply as one undo step, and do not save.  With capability `edit.files` also another `kind`, of documents that are open. `create`: put the text into the empty document and save it. `delete`: remove the file, and close the document though it has unsaved changes. `rename`: move the file to `newUri`; the document carries on there, with its text, and unsaved where it was.
---@class agent.protocol.ApplyEdit
---@field sessionId string
---@field txn string
---@field uri string
---@field version? integer The document version that `edits` are for.
---@field baseHash string
---@field edits agent.protocol.TextChange[] All in the document as it was; none overlap; first to last.
---@field resultHash string Of the document once they are applied.
---@field label string For the undo menu.
---@field kind? "edit" | "create" | "delete" | "rename" Other than `edit` only with capability `edit.files`.
---@field newUri? string `rename`: where to; nothing is there but perhaps an empty document without a file.

--- A question of the model itself.
---@class agent.protocol.Ask
---@field sessionId string
---@field toolCallId string The call of `ask_user`, which waits.
---@field question string
---@field options string[] Answers to choose from, at most nine; none: in words.

--- A document to ask about, or a part of it.
---@class agent.protocol.AskCommand
---@field sessionId? string
---@field uri string
---@field range? agent.protocol.Range
---@field prompt? string Words of the person, beside what the command says anyway.

--- What the person says.
---@class agent.protocol.Asked
---@field answer? string One of the options, or words of their own. Null: they do not answer.

--- The tool call that needs a yes.
---@class agent.protocol.AskedCall
---@field toolCallId string
---@field title? string
---@field name? string The tool's.
---@field kind? "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other"
---@field status? "pending"
---@field content? table<string, agent.protocol.JsonValue>[] ACP's `ToolCallContent`: the diffs or the command that is asked about, then why.
---@field locations? table<string, agent.protocol.JsonValue>[] ACP's `ToolCallLocation`: the files that it is about.

--- Oldest first.
---@class agent.protocol.CheckpointList
---@field checkpoints agent.protocol.CheckpointShown[]

--- What would change (`dryRun`), or what did.
---@class agent.protocol.CheckpointRestored
---@field would? agent.protocol.TouchedFile[] With `dryRun`.
---@field diffs? agent.protocol.ProposedFile[] With `dryRun`: the same, from what the files have now to what they would have, to be shown.
---@field txn? string The edit that took the files back; null: there was nothing to change.
---@field state? "proposed" | "approved" | "rejected" | "applying" | "verifying" | "applied" | "committed" | "conflict" | "failed" | "reverted" | "abandoned" Of `txn`: `applied`, or why it is not, in `left`; then the conversation stays too.
---@field chat? boolean Whether the conversation was, or would be, taken back.
---@field prompts? agent.protocol.MovedPrompt[] What that takes out of it, oldest first.
---@field undo? string The checkpoint to restore, with the same `files` and `chat`, to undo this.
---@field left? agent.protocol.LeftAlone[]
---@field note? string What is not covered, in a sentence for the person: what commands did since then.

--- The moment before a turn, before a restore or a revert, or before the conversation was taken back.
---@class agent.protocol.CheckpointShown
---@field id string
---@field turnId? string Null: before something else than a turn.
---@field at string ISO 8601 in UTC.
---@field title string
---@field files agent.protocol.TouchedFile[] What happened to files up to the next checkpoint; none for a turn that changed nothing.
---@field prompt? string What the person said in that turn, in full.
---@field chat? boolean Whether the conversation can be taken back to here.

--- What a client with our plugin declares.
---@class agent.protocol.ClientCapabilities
---@field version? 1
---@field sessionUpdate? boolean Wants `agent/session/update` and `agent/status`.
---@field permission? boolean Answers `agent/session/request_permission`.
---@field ask? boolean Answers `agent/ask`.
---@field codeActions? boolean LSP: wants the server's code actions; a client with `sessionUpdate` is taken to have its own.
---@field updatesPerSecond? integer Wants no more updates than these of texts that grow. Null: each piece at once, and fewer in a flood of them.
---@field edit? agent.protocol.EditCapabilities
---@field editor? agent.protocol.EditorCapabilities

--- The work goes on in this session.
---@class agent.protocol.CommandStarted
---@field sessionId string
---@field turnId? string The turn that was begun; null when none was.

--- Money.
---@class agent.protocol.Cost
---@field amount string A decimal number.
---@field currency? "USD"

--- One item per file that you watch, also when nothing is wrong with it; no item for others.
---@class agent.protocol.DiagnosticsReport
---@field items agent.protocol.DocumentDiagnostics[]

--- What is wrong with these files, as the editor knows now.
---@class agent.protocol.DiagnosticsRequest
---@field sessionId string
---@field uris? string[] Null: every file that you have diagnostics of.

--- A file of an edit.
---@class agent.protocol.DiffFile
---@field uri string
---@field oldUri? string Where a renamed file was.
---@field kind "edit" | "create" | "delete" | "rename"

--- Whether the person sees it; decides nothing.
---@class agent.protocol.DiffOpened
---@field shown boolean

--- The diagnostics of one file.
---@class agent.protocol.DocumentDiagnostics
---@field uri string
---@field version? integer Of the document they are about; null: not open, or not known.
---@field settled? boolean Whether they are about the text as it is now; null: you cannot tell.
---@field diagnostics agent.protocol.WireDiagnostic[]

--- Whether the document on disk is now what the editor shows.
---@class agent.protocol.DocumentSaved
---@field saved boolean

--- One for each that was named.
---@class agent.protocol.DocumentsReloaded
---@field documents agent.protocol.ReloadedDocument[]

--- The six public reasons; everything finer is a detail from a closed set.
---@alias agent.protocol.DoneReason "model_stop" | "max_turns" | "user_abort" | "error" | "budget_exceeded" | "loop_detected"

--- What the client did. `applied` without `hash` is verified by waiting ≤ 2 s for didChange.
---@class agent.protocol.EditApplied
---@field outcome "applied" | "stale" | "declined" | "failed"
---@field version? integer
---@field hash? string Of the document as it is now.
---@field reason? string

--- How the client takes part in reviewing and applying edits.
---@class agent.protocol.EditCapabilities
---@field proposed? boolean Shows `agent/edit/proposed` and answers with `agent/edit/resolve`.
---@field apply? boolean Applies an edit to an open document when it gets `agent/edit/apply`.
---@field files? boolean Also creates, deletes and renames documents that are open, when it gets `agent/edit/apply` of such a `kind`.

--- One side of a change, whole; null where that side does not exist.
---@class agent.protocol.EditContent
---@field text? string

--- Asks for a text that was too large to be in `agent/edit/proposed`.
---@class agent.protocol.EditContentRequest
---@field txn string
---@field uri string
---@field side "base" | "new"

--- A verdict on one hunk, one file (no `hunk`) or everything (no `uri`).
---@class agent.protocol.EditDecision
---@field uri? string
---@field hunk? string
---@field verdict "accept" | "reject"
---@field editedText? string With `accept` of a whole file: the text that the person wants instead of the proposed one.

--- An edit to show as a diff. A new revision is sent whole again.
---@class agent.protocol.EditProposed
---@field sessionId string
---@field turnId? string
---@field toolCallId string
---@field txn string Names this edit in every message about it.
---@field revision integer Counts the changes of the proposal; a decision names the one it was made on.
---@field review "ask" | "staged" | "applied" `ask`: the turn waits for `agent/edit/resolve`. `staged`: not on disk, asked about later together with others. `applied`: done already, shown for review.
---@field reason? string Why the person is asked.
---@field scopes? ("once" | "session" | "workspace")[] How far a yes may reach.
---@field files agent.protocol.ProposedFile[]

--- What the proposal is now. Answered before anything is applied.
---@class agent.protocol.EditResolved
---@field txn string
---@field revision integer
---@field state "proposed" | "approved" | "rejected" `proposed`: some hunks are still undecided.

--- What came of it.
---@class agent.protocol.EditReverted
---@field txn? string The edit that takes the other one back, and can be taken back itself; null when there was nothing to do.
---@field state "proposed" | "approved" | "rejected" | "applying" | "verifying" | "applied" | "committed" | "conflict" | "failed" | "reverted" | "abandoned" Of `txn`. `applied` without `txn`: nothing of the edit was there any more; `conflict`: all of it was left.
---@field left? agent.protocol.LeftAlone[]

--- Sent after every change of an edit's state.
---@class agent.protocol.EditStateChanged
---@field sessionId string
---@field txn string
---@field revision integer
---@field state "proposed" | "approved" | "rejected" | "applying" | "verifying" | "applied" | "committed" | "conflict" | "failed" | "reverted" | "abandoned"
---@field files agent.protocol.FileNow[]

--- What the server may ask of the editor.
---@class agent.protocol.EditorCapabilities
---@field save? boolean Answers `agent/editor/save`.
---@field reload? boolean Answers `agent/editor/reload`.
---@field diagnostics? boolean Answers `agent/editor/diagnostics`.
---@field selection? boolean Answers `agent/editor/selection`.
---@field openFiles? boolean Answers `agent/editor/openFiles`.
---@field openDiff? boolean Answers `agent/editor/openDiff`, which comes for the command `agent.showChanges` only.

--- A document that the person has open.
---@class agent.protocol.EditorFile
---@field uri string
---@field dirty? boolean It has changes that are not saved.
---@field kind? "text" | "notebook" | "custom" How: other than as text it has no document of LSP, and the server proposes and writes no edit of it. `custom`: an editor of its own that does not show its text, such as one for pictures or bytes.

--- In tabs or windows; not what only a plugin holds open.
---@class agent.protocol.EditorFiles
---@field files agent.protocol.EditorFile[]

--- Where the person is, in the document they are in or were in last.
---@class agent.protocol.EditorSelection
---@field uri? string Null: in none.
---@field range? agent.protocol.Range Empty: only a cursor.
---@field text? string What is selected.

--- The `data` of an error. The sentence for people is the error's `message`.
---@class agent.protocol.ErrorData
---@field reason string One snake_case word.
---@field details? string
---@field error? string The same sentence, for clients that look here.
---@field retryable? boolean
---@field turnId? string

--- Words for the model, beside an answer.
---@class agent.protocol.Feedback
---@field feedback? string

--- The `_meta` of an outcome.
---@class agent.protocol.FeedbackMeta
---@field ["agent-server"]? agent.protocol.Feedback

--- A file's part in the state of an edit.
---@class agent.protocol.FileNow
---@field uri string
---@field state "proposed" | "approved" | "rejected" | "applying" | "verifying" | "applied" | "committed" | "conflict" | "failed" | "reverted" | "abandoned"
---@field version? integer Of the document as we know it; null: not open in the editor, or it says no versions (ACP).
---@field hash? string Of the text that the edit left behind, with `applied` and `committed`; null else, and where the file is gone.
---@field message? string Why, for the person.
---@field hunks? agent.protocol.HunkNow[]

--- What is wrong there.
---@class agent.protocol.FixCommand
---@field sessionId? string
---@field uri string
---@field range? agent.protocol.Range
---@field prompt? string Words of the person, beside what the command says anyway.
---@field diagnostics? agent.protocol.ProblemToFix[] Empty: whatever is wrong in the document or the range.

--- Asks for a proposal again, after a stale revision or a restart of the client.
---@class agent.protocol.GetEdit
---@field txn string

--- One hunk of a proposal that is open.
---@class agent.protocol.HunkCommand
---@field txn string
---@field revision? integer The one that the person saw; null: whichever it is.
---@field uri string
---@field hunk string

--- A hunk's state.
---@class agent.protocol.HunkNow
---@field id string
---@field state "pending" | "accepted" | "rejected" | "applied" | "conflict"

---@alias agent.protocol.JsonValue any

--- Something that was not taken back.
---@class agent.protocol.LeftAlone
---@field uri string
---@field hunk? string Null: the whole file.
---@field why string A sentence for the person.

--- Asks what a session can be taken back to.
---@class agent.protocol.ListCheckpoints
---@field sessionId string

--- Whose sessions.
---@class agent.protocol.ListSessionsCommand
---@field uri? string A folder; null: the current one.

--- Asks what the person has before them, as a turn begins.
---@class agent.protocol.LookAtEditor
---@field sessionId string

--- Something the person said, with what the agent answered.
---@class agent.protocol.MovedPrompt
---@field text string
---@field change "goes" | "comes" Out of the conversation, or, when a rewinding is undone, back into it.

--- Where the session works.
---@class agent.protocol.NewSessionCommand
---@field uri? string A folder; null: the first workspace folder.

--- Show an edit; its texts came with `agent/edit/proposed`, or are in `agent/edit/content`.
---@class agent.protocol.OpenDiff
---@field sessionId string
---@field txn string
---@field files agent.protocol.DiffFile[]

--- The person's answer. Null, an error and an unknown option mean no.
---@class agent.protocol.PermissionAnswer
---@field outcome agent.protocol.PermissionOutcome

--- One way to answer.
---@class agent.protocol.PermissionOption
---@field optionId string
---@field name string
---@field kind "allow_once" | "allow_always" | "reject_once" | "reject_always"

--- What was picked.
---@class agent.protocol.PermissionOutcome
---@field outcome "selected" | "cancelled"
---@field optionId? string With `selected`.
---@field _meta? agent.protocol.FeedbackMeta

--- A place in a document, as in LSP.
---@class agent.protocol.Position
---@field line integer 0-based.
---@field character integer 0-based, in units of the negotiated position encoding (over ACP: UTF-16).

--- A diagnostic, as LSP has it; what is not here is ignored.
---@class agent.protocol.ProblemToFix
---@field message string
---@field range? agent.protocol.Range
---@field source? string
---@field code? string | integer

--- Prompt the agent; a bare string is taken as `prompt`.
---@class agent.protocol.PromptCommand
---@field prompt string
---@field sessionId? string Null: the root's current session, made when there is none.
---@field uri? string A document to attach.
---@field range? agent.protocol.Range The part of it that is meant.

--- The `_meta` of a prompt's result.
---@class agent.protocol.PromptMeta
---@field ["agent-server"] agent.protocol.TurnResult

--- The turn is over and settled; also after a cancellation, which is not an error.
---@class agent.protocol.PromptResult
---@field stopReason "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled"
---@field _meta agent.protocol.PromptMeta

--- The change to one file.
---@class agent.protocol.ProposedFile
---@field uri string
---@field oldUri? string Where a renamed file was.
---@field kind "edit" | "create" | "delete" | "rename"
---@field baseVersion? integer The document version the change was made against; null: not open in the editor.
---@field baseHash? string `sha256:…` over the UTF-8 of the base text: its own line ends, no byte order mark. Null: created.
---@field baseText? string Null: created, or larger than 1 MiB (then ask `agent/edit/content`).
---@field newText? string Null: deleted, or larger than 1 MiB (then ask `agent/edit/content`).
---@field hunks? agent.protocol.ProposedHunk[]

--- One contiguous replacement, which can be decided alone.
---@class agent.protocol.ProposedHunk
---@field id string Stable while its lines and their surroundings stay the same; not an index.
---@field range agent.protocol.Range In the base text.
---@field oldText string
---@field newText string

--- The `_meta` of a question.
---@class agent.protocol.QuestionMeta
---@field ["agent-server"]? agent.protocol.QuestionTerms

--- What ACP's question has no field for. A field that is absent has its default.
---@class agent.protocol.QuestionTerms
---@field floor? boolean On the safety floor: no automatic yes may answer it, and a yes reaches no further than once.
---@field reason? string Why it is asked, in words for the user; for a place outside of the workspace: which.
---@field within? string The running call whose sub-agent asks; `toolCall` is then one made for the question alone. Null: the agent that the person talks to asks.

--- From `start` up to, not including, `end`.
---@class agent.protocol.Range
---@field start agent.protocol.Position
---@field end agent.protocol.Position

--- Open documents whose file says something else than their text: reload those without unsaved changes.  Never ask anything, never write, and never throw unsaved changes away.
---@class agent.protocol.ReloadDocuments
---@field sessionId string
---@field uris string[]

--- What one document is now.
---@class agent.protocol.ReloadedDocument
---@field uri string
---@field outcome "reloaded" | "modified" | "unchanged" | "closed" `modified`: it has unsaved changes and was left alone, which you also show. `unchanged`: its text is the file's, or the file cannot be read. `closed`: you do not have it open (any more).
---@field version? integer Of the document after the reload: the server waits for the didChange that leads there, for up to 2 s.

--- A question to the person, as ACP's `session/request_permission`.
---@class agent.protocol.RequestPermission
---@field sessionId string
---@field toolCall agent.protocol.AskedCall
---@field options agent.protocol.PermissionOption[] In the order to show them.
---@field _meta? agent.protocol.QuestionMeta

--- Decisions on a proposal. They accumulate; the gate opens when nothing is left undecided.
---@class agent.protocol.ResolveEdit
---@field txn string
---@field revision integer
---@field decisions agent.protocol.EditDecision[]
---@field remember? "once" | "session" | "workspace"
---@field feedback? string Words for the model, mostly why not.

--- Take a session back: its files, its conversation, or both; shows first what that would do, unless told otherwise.  Refused with `turn_running` while a prompt is answered.
---@class agent.protocol.RestoreCheckpoint
---@field sessionId string
---@field id string
---@field files? boolean
---@field chat? boolean Nothing is deleted, and it can be undone. `session/load` shows the conversation as it stands then.
---@field dryRun? boolean Only say what would change.
---@field others? boolean Also files that somebody else changed since; else they are left alone.

--- Take back an edit that was applied, or a part of it: one file, one hunk.
---@class agent.protocol.RevertEdit
---@field txn string
---@field revision integer The one last heard of.
---@field uri? string Null: all of it.
---@field hunk? string Null: all of the file.

--- Which proposal is decided; null: every open one.
---@class agent.protocol.ReviewCommand
---@field txn? string

--- Save an open document.
---@class agent.protocol.SaveDocument
---@field uri string

--- What this server serves.
---@class agent.protocol.ServerCapabilities
---@field version? 1
---@field methods string[] Every request and notification that a client may send.
---@field commands string[] For `workspace/executeCommand`; empty over ACP.

--- Names a session; null: the current one.
---@class agent.protocol.SessionCommand
---@field sessionId? string

--- A stored session.
---@class agent.protocol.SessionListed
---@field sessionId string
---@field title? string
---@field cwd string
---@field updatedAt string ISO 8601 in UTC.

--- One piece of a turn, in order. Over ACP `seq` and `turnId` are in `_meta["agent-server"]`.
---@class agent.protocol.SessionUpdate
---@field sessionId string
---@field seq integer From 1 per connection and session, without gaps.
---@field turnId? string Null between turns, and while a stored conversation is replayed.
---@field update table<string, agent.protocol.JsonValue> ACP's `SessionUpdate` object, told apart by `sessionUpdate`; `UpdateTerms` are in its `_meta`.

--- The latest first; the first page of them.
---@class agent.protocol.SessionsListed
---@field sessions agent.protocol.SessionListed[]

--- Which mode from now on.
---@class agent.protocol.SetModeCommand
---@field sessionId? string
---@field mode "ask" | "accept_edits" | "plan" | "auto"

--- Which model from now on.
---@class agent.protocol.SetModelCommand
---@field sessionId? string
---@field model string

--- What a status bar shows. Sent at each change of state, and once after new and load.
---@class agent.protocol.Status
---@field sessionId string
---@field turnId? string
---@field state "thinking" | "streaming" | "executing" | "confirming" | "compacting" | "done"
---@field label string For people.
---@field busy boolean
---@field reason? agent.protocol.DoneReason With `done` after a turn: why it ended.
---@field detail? "text" | "tool_ended" | "soft_stop" | "truncated" | "refusal" | "summary" | "no_summary" | "cancel" | "redirect" | "approval_cancelled" | "shutdown" | "same_error_cap" | "provider" | "auth" | "billing" | "empty_response" | "incomplete_response" | "context_full" | "invalid" | "persistence" | "internal" | "tokens" | "cost" | "wall_time" | "same_call" | "cycle" | "empty_results"

--- Something said to a session while it works.
---@class agent.protocol.SteerTurn
---@field sessionId string
---@field mode "queue" | "steer" | "redirect" | "stop" A turn of its own after the others · heard at the next step · at once, dropping what streams · end softly.
---@field prompt? table<string, agent.protocol.JsonValue>[] ACP's content blocks; none with `stop`.
---@field expectedTurnId? string The turn that is meant. Required, except with `queue`.

--- One replacement in a document.
---@class agent.protocol.TextChange
---@field range agent.protocol.Range
---@field newText string

--- What happens, or happened, to a file.
---@class agent.protocol.TouchedFile
---@field uri string
---@field change "edit" | "create" | "delete" | "rename"

--- How a turn of a stored conversation ended: what its prompt was answered with then.
---@class agent.protocol.TurnEnd
---@field turnId string
---@field reason agent.protocol.DoneReason
---@field detail "text" | "tool_ended" | "soft_stop" | "truncated" | "refusal" | "summary" | "no_summary" | "cancel" | "redirect" | "approval_cancelled" | "shutdown" | "same_error_cap" | "provider" | "auth" | "billing" | "empty_response" | "incomplete_response" | "context_full" | "invalid" | "persistence" | "internal" | "tokens" | "cost" | "wall_time" | "same_call" | "cycle" | "empty_results"
---@field usage agent.protocol.TurnUsage

--- What the prompt's result says besides ACP's `stopReason`.
---@class agent.protocol.TurnResult
---@field turnId string
---@field reason agent.protocol.DoneReason
---@field detail "text" | "tool_ended" | "soft_stop" | "truncated" | "refusal" | "summary" | "no_summary" | "cancel" | "redirect" | "approval_cancelled" | "shutdown" | "same_error_cap" | "provider" | "auth" | "billing" | "empty_response" | "incomplete_response" | "context_full" | "invalid" | "persistence" | "internal" | "tokens" | "cost" | "wall_time" | "same_call" | "cycle" | "empty_results"
---@field usage agent.protocol.TurnUsage
---@field unread? table<string, agent.protocol.JsonValue>[][] Prompts steered into the turn that it did not hear: content blocks each, to be given back to the person.

--- What became of it.
---@class agent.protocol.TurnSteered
---@field outcome "steered" | "redirected" | "queued" | "started" | "stopping"
---@field turnId string The turn that hears it.

--- Tokens of a turn.
---@class agent.protocol.TurnUsage
---@field inputTokens integer
---@field outputTokens integer
---@field cachedReadTokens integer
---@field cost? agent.protocol.Cost Null: unknown, not free.

--- How much is taken back.
---@class agent.protocol.UndoCommand
---@field sessionId? string
---@field turn? boolean All edits of the last turn that made any, instead of the last edit.

--- `_meta["agent-server"]` of an update: what ACP has no field for. What is absent is not said.
---@class agent.protocol.UpdateTerms
---@field argumentsDelta? string Of `tool_call_update`: the next piece of the raw JSON that the model is writing.
---@field discarded? string The `messageId` whose text is void: the answer broke off and starts again.
---@field summary? string Of a call that ended: its outcome in a few words.
---@field code? string Of a call that ended: why it failed, one word; `denied` when the person said no.
---@field effect? "none" | "confirmed" | "unknown" Of a call that ended: whether it touched the world.
---@field seconds? number Of a call that ended: how long it ran.
---@field turnEnd? agent.protocol.TurnEnd Of `session_info_update`, in a replay: everything of that turn has been shown.

--- One diagnostic, as in LSP.
---@class agent.protocol.WireDiagnostic
---@field range agent.protocol.Range
---@field severity? 1 | 2 | 3 | 4 Error, warning, information, hint; null: error.
---@field code? integer | string
---@field source? string
---@field message string

---@class agent.protocol.ClientRequests
---@field ["agent/session/new"] { params: table, result: table }
---@field ["agent/session/load"] { params: table, result: table }
---@field ["agent/session/resume"] { params: table, result: table }
---@field ["agent/session/fork"] { params: table, result: table }
---@field ["agent/session/list"] { params: table, result: table }
---@field ["agent/session/close"] { params: table, result: table }
---@field ["agent/session/delete"] { params: table, result: table }
---@field ["agent/session/set_title"] { params: table, result: table }
---@field ["agent/session/prompt"] { params: table, result: agent.protocol.PromptResult }
---@field ["agent/session/set_mode"] { params: table, result: table }
---@field ["agent/session/set_config_option"] { params: table, result: table }
---@field ["agent/session/steer"] { params: agent.protocol.SteerTurn, result: agent.protocol.TurnSteered }
---@field ["agent/edit/resolve"] { params: agent.protocol.ResolveEdit, result: agent.protocol.EditResolved }
---@field ["agent/edit/get"] { params: agent.protocol.GetEdit, result: agent.protocol.EditProposed }
---@field ["agent/edit/content"] { params: agent.protocol.EditContentRequest, result: agent.protocol.EditContent }
---@field ["agent/edit/revert"] { params: agent.protocol.RevertEdit, result: agent.protocol.EditReverted }
---@field ["agent/checkpoint/list"] { params: agent.protocol.ListCheckpoints, result: agent.protocol.CheckpointList }
---@field ["agent/checkpoint/restore"] { params: agent.protocol.RestoreCheckpoint, result: agent.protocol.CheckpointRestored }

---@class agent.protocol.ClientNotifications
---@field ["agent/session/cancel"] { params: table }

---@class agent.protocol.ServerRequests
---@field ["agent/session/request_permission"] { params: agent.protocol.RequestPermission, result: agent.protocol.PermissionAnswer }
---@field ["agent/ask"] { params: agent.protocol.Ask, result: agent.protocol.Asked }
---@field ["agent/edit/apply"] { params: agent.protocol.ApplyEdit, result: agent.protocol.EditApplied }
---@field ["agent/editor/save"] { params: agent.protocol.SaveDocument, result: agent.protocol.DocumentSaved }
---@field ["agent/editor/reload"] { params: agent.protocol.ReloadDocuments, result: agent.protocol.DocumentsReloaded }
---@field ["agent/editor/diagnostics"] { params: agent.protocol.DiagnosticsRequest, result: agent.protocol.DiagnosticsReport }
---@field ["agent/editor/selection"] { params: agent.protocol.LookAtEditor, result: agent.protocol.EditorSelection }
---@field ["agent/editor/openFiles"] { params: agent.protocol.LookAtEditor, result: agent.protocol.EditorFiles }
---@field ["agent/editor/openDiff"] { params: agent.protocol.OpenDiff, result: agent.protocol.DiffOpened }

---@class agent.protocol.ServerNotifications
---@field ["agent/session/update"] { params: agent.protocol.SessionUpdate }
---@field ["agent/status"] { params: agent.protocol.Status }
---@field ["agent/edit/proposed"] { params: agent.protocol.EditProposed }
---@field ["agent/edit/state"] { params: agent.protocol.EditStateChanged }

--- For `workspace/executeCommand`.
---@class agent.protocol.Commands
---@field ["agent.prompt"] { argument: agent.protocol.PromptCommand, result: agent.protocol.CommandStarted }
---@field ["agent.fix"] { argument: agent.protocol.FixCommand, result: agent.protocol.CommandStarted }
---@field ["agent.explain"] { argument: agent.protocol.AskCommand, result: agent.protocol.CommandStarted }
---@field ["agent.newSession"] { argument: agent.protocol.NewSessionCommand, result: agent.protocol.CommandStarted }
---@field ["agent.listSessions"] { argument: agent.protocol.ListSessionsCommand, result: agent.protocol.SessionsListed }
---@field ["agent.resumeSession"] { argument: agent.protocol.SessionCommand, result: agent.protocol.CommandStarted }
---@field ["agent.cancel"] { argument: agent.protocol.SessionCommand, result: nil }
---@field ["agent.showChanges"] { argument: agent.protocol.ReviewCommand, result: nil }
---@field ["agent.acceptAll"] { argument: agent.protocol.ReviewCommand, result: nil }
---@field ["agent.rejectAll"] { argument: agent.protocol.ReviewCommand, result: nil }
---@field ["agent.acceptHunk"] { argument: agent.protocol.HunkCommand, result: nil }
---@field ["agent.rejectHunk"] { argument: agent.protocol.HunkCommand, result: nil }
---@field ["agent.undo"] { argument: agent.protocol.UndoCommand, result: nil }
---@field ["agent.setMode"] { argument: agent.protocol.SetModeCommand, result: nil }
---@field ["agent.setModel"] { argument: agent.protocol.SetModelCommand, result: nil }
