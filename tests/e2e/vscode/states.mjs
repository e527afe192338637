// What the chat's page can look like: messages of the host for each state, and what a person does then.

const READY = { kind: "ready", version: "0.1.0" };
const MODES = {
  currentModeId: "ask",
  availableModes: [
    { id: "ask", name: "Ask", description: "Asks before every edit and command" },
    { id: "plan", name: "Plan", description: "Only reads, and proposes a plan" },
  ],
};
const model = (value) => ({
  id: "model",
  name: "Model",
  category: "model",
  currentValue: value,
  options: [{ value, name: value }],
});
const IDLE = { state: "done", label: "Done", busy: false, turnId: null };
const WORKING = { state: "executing", label: "Running shell: pytest -q", busy: true, turnId: "t2" };

export function chatOf(items, more = {}) {
  return {
    sessionId: "s1",
    title: "Make parse_date accept ISO weeks",
    items,
    plan: [],
    modes: MODES,
    options: [model("openai/gpt-x")],
    commands: [{ name: "compact", description: "Shorten what came before" }],
    usage: { used: 23_400, size: 128_000, cost: 0.0412 },
    status: IDLE,
    waiting: [],
    turnSince: null,
    folder: null,
    readOnly: null,
    loading: false,
    ...more,
  };
}

export function snapshot(chat, more = {}) {
  return { kind: "snapshot", server: READY, chat, review: { edits: 0, files: [], outside: [] }, ...more };
}

const tool = (id, title, more = {}) => ({
  kind: "tool",
  id,
  title,
  toolKind: "read",
  status: "completed",
  summary: null,
  output: "",
  diffs: [],
  location: null,
  since: 0,
  seconds: null,
  ...more,
});
const end = (more = {}) => ({
  kind: "end",
  id: "end-t1",
  why: null,
  failed: false,
  tokens: 4_812,
  cost: "0.0123",
  seconds: 12.4,
  ...more,
});
const OPTIONS = [
  { optionId: "o1", name: "Once", kind: "allow_once" },
  { optionId: "o2", name: "`npm publish --access public`, this session", kind: "allow_always" },
  { optionId: "o3", name: "`npm publish --access public`, this workspace", kind: "allow_always" },
  { optionId: "o4", name: "No", kind: "reject_once" },
];
const ANSWER = `\`parse_date\` takes ISO weeks now.

\`\`\`python
ISO_WEEK = re.compile(r"(\\d{4})-W(\\d{2})-(\\d)")  # 2026-W48-7

def parse_date(text: str) -> date:
    if week := ISO_WEEK.fullmatch(text):
        return date.fromisocalendar(*map(int, week.groups()))
    return datetime.strptime(text, FORMAT)
\`\`\`

1. The pattern is strict: \`2026-W48\` alone is refused.
2. Run it:
   \`\`\`sh
   pytest -q tests/test_dates.py
   \`\`\`

| input | result |
|---|---|
| \`2026-W48-7\` | 29 November 2026 |

> Weeks begin on Monday. See [ISO 8601](https://example.org).`;

const TURN = [
  { kind: "user", id: "p1", text: "Make parse_date accept ISO weeks", attached: ["dates.py"] },
  { kind: "thought", id: "t1", text: "The parser and its callers first. **Then** the tests.", since: 1, seconds: 4.2 },
  { kind: "message", id: "m1", text: "I'll look at the parser and its tests first." },
  tool("c1", 'search "parse_date" in src', { toolKind: "search", summary: "12 hits", seconds: 0.1 }),
  tool("c2", "read src/dates.py", {
    summary: "118 lines",
    seconds: 0.1,
    location: { path: "/w/src/dates.py", line: 1 },
    output: "```\n1: import re\n2: from datetime import date\n```",
  }),
  tool("c3", "shell npm test", {
    toolKind: "execute",
    status: "failed",
    summary: "exit code 1",
    seconds: 3.1,
    output: "```\nFAILED tests/test_dates.py::test_week - AssertionError\n```",
  }),
  tool("c4", "edit src/dates.py", {
    toolKind: "edit",
    summary: "applied",
    seconds: 8.2,
    diffs: [{ path: "/w/src/dates.py", added: 6, removed: 1 }],
  }),
  {
    kind: "notice",
    id: "n1",
    severity: "warning",
    title: "The provider is busy",
    description: "tried again after 2 s",
  },
  { kind: "message", id: "m2", text: ANSWER },
  end(),
];
const ASKED = {
  kind: "question",
  id: "q1",
  title: "shell npm publish --access public",
  toolKind: "execute",
  detail: "```sh\nnpm publish --access public\n```\n\nWhy you are asked: not in your allow rules (network)",
  options: OPTIONS,
  answer: null,
};
const PLAN = [
  { content: "Read the parser and its callers", status: "completed" },
  { content: "Accept ISO weeks", status: "in_progress" },
  { content: "Test the edges of the year", status: "pending" },
];
const WAITING = [
  { id: "p2", text: "Then update the README", attached: ["README.md"], how: "prompt" },
  { id: "p3", text: "Keep the old name as an alias", attached: [], how: "steer" },
];
const SESSIONS = [
  { sessionId: "s1", cwd: "/w", title: "Make parse_date accept ISO weeks", updatedAt: "2026-11-29T10:00:00Z" },
  { sessionId: "s2", cwd: "/w", title: null, updatedAt: "2026-11-28T10:00:00Z" },
];
const REVIEW = { outside: ["outside the workspace: /etc/hosts"], edits: 2, files: [{ uri: "file:///w/src/dates.py", txn: "x1" }] };

const trouble = (server) => ({ messages: [snapshot(null, { server })] });
const working = (items, more) => ({ messages: [snapshot(chatOf(items, { status: WORKING, plan: PLAN, ...more }))] });

/** By name: what the host says, then what the person does. */
export const STATES = {
  welcome: { messages: [snapshot(chatOf([], { title: null, usage: null }))] },
  demo: { messages: [snapshot(chatOf([], { title: null, usage: null, options: [model("demo")] }))] },
  answered: { messages: [snapshot(chatOf(TURN))], act: openAll },
  permission: { ...working([...TURN.slice(0, 4), ASKED]) },
  reason: {
    ...working([...TURN.slice(0, 2), ASKED]),
    act: (page) => page.getByRole("button", { name: "No, and say why…" }).click(),
  },
  diff: working([
    {
      ...ASKED,
      title: "write .env",
      toolKind: "edit",
      detail: "/w/.env\n\n```diff\n PORT=80\n-DEBUG=1\n+DEBUG=0\n```\n\nWhy you are asked: this file may hold secrets",
      options: [OPTIONS[0], OPTIONS[3]],
    },
  ]),
  ask: working([
    ...TURN.slice(0, 3),
    {
      kind: "ask",
      id: "q2",
      question: "Which calendar should **weeks** follow?",
      options: ["ISO 8601", "US"],
      answer: null,
    },
  ]),
  settled: {
    messages: [
      snapshot(
        chatOf(
          [
            ...TURN.slice(0, 2),
            { ...ASKED, answer: "No: not now" },
            { kind: "message", id: "m3", text: "I did not run it." },
            end({ why: "Stopped: budget used up" }),
            { kind: "user", id: "p9", text: "And now?", attached: [] },
            end({
              id: "end-t2",
              why: "openai/gpt-x answered 401: the key in OPENAI_API_KEY was refused. Run agent-server login openai.",
              failed: true,
              tokens: null,
              cost: null,
              seconds: null,
            }),
          ],
          { readOnly: "process 4711 on this computer" },
        ),
      ),
    ],
  },
  busy: {
    ...working([...TURN.slice(0, 6), tool("c9", "shell pytest -q", { toolKind: "execute", status: "in_progress" })], {
      waiting: WAITING,
    }),
    act: async (page) => {
      await page.getByRole("textbox", { name: "Prompt" }).fill("Look at @selection, @terminal and @src/dates.py too");
    },
  },
  sessions: {
    messages: [snapshot(chatOf(TURN)), { kind: "sessions", sessions: SESSIONS, current: "s1" }],
    act: (page) => page.getByRole("button", { name: "Sessions" }).click(),
  },
  commands: {
    messages: [snapshot(chatOf(TURN))],
    act: async (page) => {
      await page.getByRole("textbox", { name: "Prompt" }).pressSequentially("/");
      await page.keyboard.press("ArrowDown");
    },
  },
  review: { messages: [snapshot(chatOf(TURN.slice(0, 7)), { review: REVIEW })] },
  folders: { messages: [snapshot(chatOf(TURN.slice(0, 3), { folder: "shop-frontend" }))] },
  missing: trouble({
    kind: "missing",
    message: "agent-server is not on PATH, and not installed for VS Code.",
    canInstall: true,
  }),
  installing: trouble({ kind: "installing", step: "Installing the dependencies, checked by their hashes" }),
  restarting: trouble({ kind: "restarting", message: "The server stopped unexpectedly.\nMemoryError", seconds: 2 }),
  failed: trouble({
    kind: "failed",
    message: "The server stopped unexpectedly. It has stopped several times in a row.",
  }),
};

/** Every part that is folded. */
async function openAll(page) {
  const folded = page.locator(".item [aria-expanded=false]");
  for (let left = await folded.count(); left > 0; left -= 1) await folded.first().click();
}
