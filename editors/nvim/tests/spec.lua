-- The pure modules, in a bare Neovim: nvim --clean -l spec.lua. Prints each failure, exits with their number.
package.path = vim.fs.dirname(debug.getinfo(1, "S").source:sub(2)) .. "/?.lua;" .. package.path
local check = require("check")
local diff = require("agent.diff")
local ending = require("agent.ending")
local json = require("agent.json")
local proposal = require("agent.proposal")
local render = require("agent.render")
local transcript = require("agent.transcript")

local it, equal = check.it, check.equal

local function edit(line, from, to_line, to, text)
  return {
    range = { start = { line = line, character = from }, ["end"] = { line = to_line, character = to } },
    newText = text,
  }
end

local function hunk(id, start, count, old, new)
  return { id = id, start = start, count = count, old = old, new = new }
end

it("lines keep their ends, whichever they are", function()
  equal({ "a\n", "b\r\n", "c\r", "d" }, diff.split("a\nb\r\nc\rd"))
  equal({}, diff.split(""))
  equal({ "a", "", "b" }, diff.rows("a\n\nb\n"))
end)

it("edits are applied to the text as it was, in any order", function()
  equal("A\nb\nC\n", diff.apply("a\nb\nc\n", { edit(2, 0, 2, 1, "C"), edit(0, 0, 0, 1, "A") }, "utf-16"))
end)

it("characters are counted in the negotiated encoding", function()
  equal("x𐐀!\n", diff.apply("x𐐀y\n", { edit(0, 3, 0, 4, "!") }, "utf-16"))
  equal("x𐐀!\n", diff.apply("x𐐀y\n", { edit(0, 5, 0, 6, "!") }, "utf-8"))
  equal("x𐐀!\n", diff.apply("x𐐀y\n", { edit(0, 2, 0, 3, "!") }, "utf-32"))
end)

it("an edit may end on the line after the last", function()
  equal("b\n", diff.apply("a\n", { edit(0, 0, 1, 0, "b\n") }, "utf-8"))
  equal("a\nb\n", diff.apply("a\n", { edit(1, 0, 1, 0, "b\n") }, "utf-8"))
end)

it("an edit outside the text, or over another, is refused", function()
  equal({ nil, "an edit is outside the document" }, { diff.apply("a\n", { edit(3, 0, 3, 0, "b") }, "utf-8") })
  equal({ nil, "an edit is outside the document" }, { diff.apply("a\n", { edit(0, 0, 0, 9, "b") }, "utf-8") })
  local two = { edit(0, 0, 0, 2, ""), edit(0, 1, 0, 3, "") }
  equal({ nil, "two edits overlap" }, { diff.apply("abc\n", two, "utf-8") })
end)

it("hunks are put in place of their lines, others stay", function()
  local hunks = { hunk("b", 2, 1, "c\n", "C\n"), hunk("a", 0, 0, "", "new\n") }
  local function only_b(one)
    return one.id == "b" and one.new or nil
  end
  equal("a\nb\nC\n", diff.compose("a\nb\nc\n", hunks, only_b))
end)

it("a line of the base is found again after changes elsewhere", function()
  local place = diff.follow("a\nb\nc\n", "new\na\nb\nc\n")
  equal(1, place(0, 1))
  equal(3, place(2, 1))
  equal(4, place(3, 0))
end)

it("a line that was changed is not found", function()
  local place = diff.follow("a\nb\nc\n", "a\nB\nc\n")
  equal(0, place(0, 1))
  equal(nil, place(1, 1))
  equal(2, place(2, 1))
end)

it("what changed inside a line is marked, unless most of it did", function()
  local old, new = diff.inside("return a + b", "return a - b")
  equal({ { first = 9, last = 10 } }, old)
  equal({ { first = 9, last = 10 } }, new)
  equal({ {}, {} }, { diff.inside("completely", "different") })
end)

local function read()
  local function given(id, line, new)
    local range = { start = { line = line, character = 0 }, ["end"] = { line = line + 1, character = 0 } }
    return { id = id, range = range, oldText = "old\n", newText = new }
  end
  local file = { uri = "file:///a", kind = "edit", baseText = "old\nold\n", newText = "one\ntwo\n" }
  file.hunks = { given("h1", 0, "one\n"), given("h2", 1, "two\n") }
  return proposal.read({ txn = "x", sessionId = "s", toolCallId = "c", revision = 1, review = "ask", files = { file } })
end

it("a hunk is decided alone, a file by what is left of it", function()
  local file = read().files[1]
  equal({ { uri = "file:///a", hunk = "h1", verdict = "reject" } }, proposal.decide(file, "reject", file.hunks[1]))
  equal({ { uri = "file:///a", hunk = "h2", verdict = "accept" } }, proposal.decide(file, "accept"))
  equal(0, (proposal.count(file)))
end)

it("an edited hunk waits for the others, because its text is the whole file's", function()
  local file = read().files[1]
  file.hunks[2].edited = "TWO\n"
  equal({}, proposal.decide(file, "accept", file.hunks[2]))
  local sent = proposal.decide(file, "reject", file.hunks[1])
  equal({ { uri = "file:///a", verdict = "accept", editedText = "old\nTWO\n" } }, sent)
end)

it("an edited file whose hunks are all rejected is rejected", function()
  local file = read().files[1]
  file.hunks[2].edited = "TWO\n"
  equal({ { uri = "file:///a", verdict = "reject" } }, proposal.decide(file, "reject"))
end)

it("a file that cannot be taken in part is decided as a whole", function()
  local file = { uri = "file:///n", kind = "create", hunks = { hunk("h", 0, 0, "", "new\n") } }
  equal({ { uri = "file:///n", verdict = "accept" } }, proposal.decide(file, "accept", file.hunks[1]))
  equal(0, (proposal.count(file)))
end)

local function says(id, text)
  return { sessionUpdate = "agent_message_chunk", messageId = id, content = { type = "text", text = text } }
end

it("pieces of a message grow one block", function()
  local said = transcript.new()
  equal({ { index = 1 } }, said:update(says("m1", "Hel"), 0))
  equal({ { index = 1, text = "lo" } }, said:update(says("m1", "lo"), 0))
  equal("Hello", transcript.text(said.blocks[1]))
end)

it("a tool call is one block in its last state, and ends the message before it", function()
  local said = transcript.new()
  said:update(says("m1", "I look."), 0)
  said:update({ sessionUpdate = "tool_call", toolCallId = "c", title = "read", status = "pending" }, 0)
  local outcome = { ["agent-server"] = { summary = "3 lines", seconds = 0.3 } }
  local update = { sessionUpdate = "tool_call_update", toolCallId = "c", status = "completed", _meta = outcome }
  equal({ { index = 2 } }, said:update(update, 0))
  equal("read (3 lines, 0.3 s)", render.headline(said.blocks[2]))
  equal(false, said.blocks[1].open)
end)

it("a broken off answer is marked, and what is told of it is no thought", function()
  local said = transcript.new()
  said:update(says("m1", "Half an ans"), 0)
  local update = { sessionUpdate = "agent_thought_chunk", messageId = "x", content = { type = "text", text = "…" } }
  update._meta = { ["agent-server"] = { discarded = "m1" } }
  equal({ { index = 1 } }, said:update(update, 0))
  equal({ "The answer broke off here and starts again below." }, render.block(said.blocks[1]).lines)
end)

it("an update of a kind that nobody knows changes nothing", function()
  equal({}, transcript.new():update({ sessionUpdate = "from_the_future" }, 0))
end)

it("what is open is settled at the end of the turn", function()
  local said = transcript.new()
  said:update({ sessionUpdate = "tool_call", toolCallId = "c", title = "shell", status = "in_progress" }, 0)
  said:settle(0)
  equal("shell: did not finish", render.headline(said.blocks[1]))
end)

it("a code block that was left open is closed, so that it does not swallow what follows", function()
  local said = transcript.new()
  said:update(says("m1", "```lua\nlocal x"), 0)
  said:settle(0)
  equal({ "```lua", "local x", "```" }, render.block(said.blocks[1]).lines)
end)

it("a tool's line is code, whatever backticks it has", function()
  local block = { kind = "tool", title = "shell echo `date`", status = "pending", pieces = {}, gap = false }
  equal({ "`` shell echo `date` ``" }, render.block(block).lines)
end)

it("output stands behind a bar, where Markdown sees no markup", function()
  local content = { { type = "content", content = { type = "text", text = "# no heading\n```" } } }
  local block = { kind = "tool", title = "read", status = "completed", pieces = {}, content = content }
  equal({ "`read`", "│ # no heading", "│ ```" }, render.block(block).lines)
end)

it("a field that is null is absent, at any depth", function()
  local sent = { usage = { cost = vim.NIL, tokens = 3 }, reason = vim.NIL, files = { { text = vim.NIL } } }
  equal({ usage = { tokens = 3 }, files = { {} } }, json.without_null(sent))
  equal(nil, json.without_null(vim.NIL))
end)

it("a normal end needs few words, another says why", function()
  local usage = { inputTokens = 1200, outputTokens = 80, cost = { amount = "0.0123" } }
  equal("1280 tokens · $0.0123 · 2.0 s", ending.words({ reason = "model_stop", detail = "text", usage = usage }, 2))
  equal("cancelled · 0.5 s", ending.words({ reason = "user_abort", detail = "cancel" }, 0.5))
  local unused = { inputTokens = 0, outputTokens = 0 }
  equal("the server stopped", ending.words({ reason = "user_abort", detail = "shutdown", usage = unused }))
end)

it("a replayed turn ends as it did", function()
  local said = transcript.new()
  said:update(says("m1", "Long ago."), 0)
  local ended = { reason = "model_stop", detail = "text", usage = { inputTokens = 3, outputTokens = 4 } }
  local update = { sessionUpdate = "session_info_update", _meta = { ["agent-server"] = { turnEnd = ended } } }
  said:update(update, 0)
  equal("7 tokens", transcript.text(said.blocks[2]))
  equal(false, said.blocks[1].open)
end)

local function call(given)
  return vim.tbl_extend("force", { kind = "tool", pieces = {}, gap = false, status = "completed" }, given)
end

local function printed(text)
  return { { type = "content", content = { type = "text", text = text } } }
end

it("a tool's line says verb, object and outcome", function()
  local search = call({ title = 'search "parse_date" in src', summary = "12 hits", seconds = 0.14 })
  equal('search "parse_date" in src (12 hits, 0.1 s)', render.headline(search))
  local stale = call({ title = "edit src/a.py", status = "failed", summary = "changed since it was read" })
  equal("edit src/a.py: changed since it was read", render.headline(stale))
  local missing = call({ title = "read b.py", status = "failed", content = printed("b.py is not there\nlook again") })
  equal("read b.py: b.py is not there", render.headline(missing))
  local skipped = call({ title = "read b.py", status = "failed", code = "not_run", summary = "not_run" })
  equal("read b.py (not run)", render.headline(skipped))
  equal({ "–", "AgentPending" }, render.block(skipped).sign)
end)

it("time goes on for a tool that runs, with what it printed", function()
  local said = transcript.new()
  said:update({ sessionUpdate = "tool_call", toolCallId = "c", title = "shell pytest -q", status = "in_progress" }, 0)
  equal("shell pytest -q (running)", render.headline(said.blocks[1]))
  said:update({ sessionUpdate = "tool_call_update", toolCallId = "c", content = printed("```\na\nb\nc\n```") }, 0)
  equal({ { index = 1 } }, said:tick(8200))
  equal("shell pytest -q (running 8 s, 3 lines)", render.headline(said.blocks[1]))
end)

it("the time in which somebody was asked does not count as running", function()
  local said = transcript.new()
  said:update({ sessionUpdate = "tool_call", toolCallId = "c", title = "shell make", status = "pending" }, 0)
  said:wait("c", { "Why you are asked" })
  said:wait("c", nil)
  said:update({ sessionUpdate = "tool_call_update", toolCallId = "c", status = "in_progress" }, 60000)
  said:tick(60000)
  said:tick(63000)
  equal("shell make (running 3 s)", render.headline(said.blocks[1]))
end)

it("a command that failed looks failed", function()
  local failed = call({ title = "shell make", summary = "exit 2" })
  equal("shell make: exit 2", render.headline(failed))
  equal({ "✗", "AgentFailed" }, render.block(failed).sign)
  equal({ "✓", "AgentDone" }, render.block(call({ title = "shell make", summary = "exit 0" })).sign)
end)

it("hidden characters are named", function()
  local visible = require("agent.visible")
  equal("a\\u{202E}b\\u{001B}[1m ü 漢", visible.text("a\u{202E}b\27[1m ü 漢"))
  equal("shell \\u{200B}rm", render.headline(call({ title = "shell \u{200B}rm" })))
end)

it("what waits is shown at its call", function()
  local block = { kind = "tool", title = "shell git push", status = "pending", pieces = {}, gap = false }
  block.waiting = { "Why you are asked: not in your rules" }
  equal({ "`shell git push (waiting for you)`", "`  Why you are asked: not in your rules`" }, render.block(block).lines)
end)

it("lines that differ are hunks", function()
  local hunks = diff.hunks("a\nb\nc\n", "a\nB\nc\nd\n")
  equal({ { 1, 1, "b\n", "B\n" }, { 3, 0, "", "d\n" } }, {
    { hunks[1].start, hunks[1].count, hunks[1].old, hunks[1].new },
    { hunks[2].start, hunks[2].count, hunks[2].old, hunks[2].new },
  })
end)

check.done()
