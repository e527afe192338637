import { describe, expect, test } from "vitest";
import type { ChatEvent } from "../src/chat/events";
import { apply } from "../src/chat/reduce";
import type { ChatState } from "../src/chat/state";
import { emptyChat } from "../src/chat/state";
import type { Update } from "../src/protocol/acp";
import type { PromptResult, RequestPermission, Status } from "../src/protocol/messages";

const START = emptyChat("s1");

function play(...events: readonly ChatEvent[]): ChatState {
  return events.reduce(apply, START);
}

function told(update: Update, at = 0): ChatEvent {
  return { kind: "update", update, live: true, at };
}

const says = (text: string, messageId = "m1") =>
  told({ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } });
const thinks = (text: string, at: number) =>
  told({ sessionUpdate: "agent_thought_chunk", messageId: "t1", content: { type: "text", text } }, at);
const prompted = (id: string, text: string): ChatEvent => ({
  kind: "prompted",
  waiting: { id, text, attached: [], how: "prompt" },
});
const status = (turnId: string, state: Status["state"], at = 0): ChatEvent => ({
  kind: "status",
  status: { sessionId: "s1", turnId, state, label: state, busy: state !== "done" },
  at,
});

function answered(
  waitingId: string,
  at: number,
  changes: Partial<PromptResult["_meta"]["agent-server"]> = {},
): ChatEvent {
  const usage = { inputTokens: 900, outputTokens: 100, cachedReadTokens: 0, cost: null };
  const turn = { turnId: "t1", reason: "model_stop", detail: "text", usage, ...changes } as const;
  return { kind: "answered", waitingId, at, result: { stopReason: "end_turn", _meta: { "agent-server": turn } } };
}

const QUESTION: RequestPermission = {
  sessionId: "s1",
  toolCall: { toolCallId: "c1", title: "shell npm publish", kind: "execute", status: "pending" },
  options: [
    { optionId: "o1", name: "Once", kind: "allow_once" },
    { optionId: "o4", name: "No", kind: "reject_once" },
  ],
};

test("a question says why it is asked, once", () => {
  const why = (text: string) => ({
    ...QUESTION,
    toolCall: { ...QUESTION.toolCall, content: [{ type: "content", content: { type: "text", text } }] },
    _meta: { "agent-server": { floor: true, reason: "it deletes files" } },
  });
  const detail = (request: RequestPermission) => play({ kind: "asked", id: "q1", request }).items[0];

  expect(detail(why("rm -r x"))).toMatchObject({ detail: "rm -r x\n\nWhy you are asked: it deletes files" });
  expect(detail(why("Why you are asked: it deletes files"))).toMatchObject({
    detail: "Why you are asked: it deletes files",
  });
});

describe("what nobody ends", () => {
  const call = told({ sessionUpdate: "tool_call", toolCallId: "c1", title: "shell sleep 9", status: "in_progress" });
  const over: ChatEvent = {
    kind: "status",
    status: { sessionId: "s1", turnId: null, state: "done", label: "", busy: false },
    at: 4_000,
  };
  const open = ({ items }: ChatState) =>
    items.filter((item) =>
      item.kind === "tool"
        ? item.status === "pending" || item.status === "in_progress"
        : item.kind === "thought" && item.seconds === null,
    );

  test("ends with its turn: no call runs on, no thought goes on", () => {
    expect(open(play(thinks("Hm", 1_000), call))).toHaveLength(1);
    expect(open(play(call, thinks("Hm", 1_000)))).toHaveLength(2);
    expect(open(play(call, thinks("Hm", 1_000), over))).toEqual([]);
  });

  test("ends with its server, and says so", () => {
    const chat = play(call, thinks("Hm", 1_000), { kind: "lost", at: 4_000 });

    expect(open(chat)).toEqual([]);
    expect(chat.items[0]).toMatchObject({ status: "failed", summary: "not finished: the server stopped" });
  });

  test("a result that comes late counts all the same", () => {
    const late = told({ sessionUpdate: "tool_call_update", toolCallId: "c1", status: "completed" });

    expect(play(call, over, late).items[0]).toMatchObject({ status: "completed" });
  });
});

describe("what streams", () => {
  test("pieces of one message become one", () => {
    expect(play(says("Hel"), says("lo")).items).toEqual([{ kind: "message", id: "m1", text: "Hello" }]);
  });

  test("5,000 pieces keep their order and their text", () => {
    const pieces = Array.from({ length: 5_000 }, (_, index) => says(`${index} `));

    expect(play(...pieces).items).toEqual([
      { kind: "message", id: "m1", text: Array.from({ length: 5_000 }, (_, index) => `${index} `).join("") },
    ]);
  });

  test("a thought ends when something else begins, and then says how long it took", () => {
    const chat = play(thinks("Hm", 1_000), thinks(", hm", 2_000), says("So:"));
    const late = apply(play(thinks("Hm", 1_000)), told({ sessionUpdate: "tool_call", toolCallId: "c1" }, 3_500));

    expect(chat.items.map((item) => item.kind)).toEqual(["thought", "message"]);
    expect(late.items[0]).toMatchObject({ text: "Hm", seconds: 2.5 });
  });

  test("an answer that broke off is taken back", () => {
    const content = { type: "text", text: "The answer broke off." } as const;
    const _meta = { "agent-server": { discarded: "m1" } };

    expect(play(says("half"), told({ sessionUpdate: "agent_thought_chunk", content, _meta })).items).toEqual([]);
  });

  test("a tool call's updates say only what changed", () => {
    const call: Update = {
      sessionUpdate: "tool_call",
      toolCallId: "c1",
      title: "read a.py",
      kind: "read",
      status: "pending",
    };
    const done: Update = {
      sessionUpdate: "tool_call_update",
      toolCallId: "c1",
      status: "completed",
      content: [{ type: "content", content: { type: "text", text: "1: x" } }],
      _meta: { "agent-server": { summary: "1 line", seconds: 0.1 } },
    };

    expect(play(told(call), told(done)).items).toEqual([
      expect.objectContaining({
        title: "read a.py",
        status: "completed",
        output: "1: x",
        summary: "1 line",
        seconds: 0.1,
      }),
    ]);
  });

  test("an edit shows how many lines it adds and takes away", () => {
    const content = [{ type: "diff", path: "/w/a.py", oldText: "a\nb\n", newText: "a\nc\nd\n" }] as const;
    const chat = play(told({ sessionUpdate: "tool_call", toolCallId: "c1", content }));

    expect(chat.items[0]).toMatchObject({ diffs: [{ path: "/w/a.py", added: 2, removed: 1 }] });
  });

  test("an update of a call that nobody saw changes nothing", () => {
    expect(play(told({ sessionUpdate: "tool_call_update", toolCallId: "c9", status: "failed" }))).toEqual(START);
  });
});

describe("turns", () => {
  test("a prompt waits until its turn begins", () => {
    const sent = play(prompted("p1", "Go"));
    expect(sent.waiting.map((one) => one.text)).toEqual(["Go"]);

    const begun = apply(sent, status("t1", "thinking"));

    expect(begun.waiting).toEqual([]);
    expect(begun.items).toEqual([{ kind: "user", id: "p1", text: "Go", attached: [] }]);
  });

  test("a prompt sent during a turn waits for the next one", () => {
    const busy = play(
      prompted("p1", "Go"),
      status("t1", "thinking"),
      prompted("p2", "Then"),
      status("t1", "streaming"),
    );
    expect(busy.waiting.map((one) => one.text)).toEqual(["Then"]);

    const next = [status("t1", "done"), answered("p1", 0), status("t2", "thinking")].reduce(apply, busy);

    expect(next.items.map((item) => item.kind)).toEqual(["user", "end", "user"]);
  });

  test("a usual end says what it took, and nothing else", () => {
    const chat = play(
      prompted("p1", "Go"),
      status("t1", "thinking", 1_000),
      status("t1", "done", 4_000),
      answered("p1", 4_000),
    );

    expect(chat.items.at(-1)).toMatchObject({ kind: "end", why: null, tokens: 1_000, cost: null, seconds: 3 });
  });

  test.each([
    ["user_abort", "Cancelled"],
    ["max_turns", "Stopped: step limit reached"],
    ["loop_detected", "Stopped: repeating itself"],
  ] as const)("an end by %s is said", (reason, words) => {
    expect(play(answered("p1", 0, { reason })).items.at(-1)).toMatchObject({ why: words });
  });

  test("a prompt that fails stays to be seen, with the reason below it", () => {
    const chat = play(prompted("p1", "Go"), { kind: "failed", waitingId: "p1", message: "no credentials" });

    expect(chat.items).toMatchObject([
      { kind: "user", text: "Go" },
      { kind: "end", why: "no credentials", failed: true },
    ]);
  });

  test("when the server is gone nothing runs, waits or asks", () => {
    const chat = play(
      status("t1", "executing"),
      { kind: "asked", id: "q1", request: QUESTION },
      { kind: "lost", at: 0 },
    );

    expect(chat.status.busy).toBe(false);
    expect(chat.items[0]).toMatchObject({ kind: "question", answer: "Not answered: the server stopped" });
  });
});

describe("what is said to a running turn", () => {
  const steered: ChatEvent = {
    kind: "prompted",
    waiting: { id: "p2", text: "Use tabs", attached: [], how: "steer" },
  };
  const user = (text: string) =>
    told({ sessionUpdate: "user_message_chunk", messageId: "u9", content: { type: "text", text } });

  test("waits until it is heard, and is then shown once", () => {
    const running = play(prompted("p1", "Go"), status("t1", "thinking"), steered);
    expect(running.waiting.map((one) => one.text)).toEqual(["Use tabs"]);

    const heard = apply(running, user("Use tabs"));

    expect(heard.waiting).toEqual([]);
    expect(heard.items.filter((item) => item.kind === "user").map((item) => item.text)).toEqual(["Go", "Use tabs"]);
  });

  test("is no prompt of the next turn", () => {
    const next = play(steered, status("t2", "thinking"));

    expect(next.items).toEqual([]);
  });

  test("and was not heard does not wait for ever", () => {
    expect(play(prompted("p1", "Go"), status("t1", "thinking"), steered, answered("p1", 0)).waiting).toEqual([]);
  });
});

test("a prompt that is taken back leaves nothing behind", () => {
  const chat = play(status("t1", "thinking"), prompted("p2", "Then"), { kind: "withdrawn", waitingId: "p2" });

  expect(chat.waiting).toEqual([]);
  expect(chat.items).toEqual([]);
});

test("a replay says how each turn ended, and that changes no title", () => {
  const usage = { inputTokens: 900, outputTokens: 100, cachedReadTokens: 0, cost: { amount: "0.0123" } };
  const turnEnd = { turnId: "t1", reason: "user_abort", detail: "cancel", usage } as const;
  const named = told({ sessionUpdate: "session_info_update", title: "A title" });
  const ended = told({ sessionUpdate: "session_info_update", _meta: { "agent-server": { turnEnd } } });

  const chat = play(named, ended);

  expect(chat.title).toBe("A title");
  expect(chat.items).toEqual([
    { kind: "end", id: "end-t1", why: "Cancelled", failed: false, tokens: 1_000, cost: "0.0123", seconds: null },
  ]);
});

test("the server says what a prompt may begin with", () => {
  const availableCommands = [{ name: "compact", description: "Shorten" }];

  expect(play(told({ sessionUpdate: "available_commands_update", availableCommands })).commands).toEqual(
    availableCommands,
  );
});

describe("questions", () => {
  test("show their options in order and keep the first answer", () => {
    const open = play({ kind: "asked", id: "q1", request: QUESTION });
    expect(open.items[0]).toMatchObject({ answer: null, options: QUESTION.options });

    const settled = [
      { kind: "settled", id: "q1", answer: "Once" },
      { kind: "settled", id: "q1", answer: "Withdrawn" },
    ] as const;

    expect(settled.reduce<ChatState>(apply, open).items[0]).toMatchObject({ answer: "Once" });
  });

  test("of the model keep what was said", () => {
    const request = { sessionId: "s1", toolCallId: "c1", question: "Which?", options: ["a", "b"] };

    const chat = play({ kind: "modelAsked", id: "q1", request }, { kind: "settled", id: "q1", answer: "b" });

    expect(chat.items).toEqual([{ kind: "ask", id: "q1", question: "Which?", options: ["a", "b"], answer: "b" }]);
  });
});

test("a replay tells the prompts itself, each chunk a part of the message", () => {
  const user = (content: Extract<Update, { sessionUpdate: "user_message_chunk" }>["content"]): ChatEvent => ({
    kind: "update",
    update: { sessionUpdate: "user_message_chunk", messageId: "u1", content },
    live: false,
    at: 0,
  });

  expect(
    play(user({ type: "text", text: "Look" }), user({ type: "resource_link", uri: "file:///w/a.py", name: "a.py" }))
      .items,
  ).toEqual([{ kind: "user", id: "u1", text: "Look", attached: ["a.py"] }]);
});
