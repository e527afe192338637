// Much at once, for the chat's page: what a long session looks like, and an answer that streams.
import { chatOf, snapshot } from "./states.mjs";

/** Some Markdown of every kind, about a kilobyte and a half. */
export function passage(number) {
  const line = (index) => `def f${number}_${index}(x):\n    return [y for y in range(x) if "a" in str(y)]  # ${index}`;
  const code = Array.from({ length: 12 }, (_, index) => line(index)).join("\n");
  const words = "lorem ipsum dolor sit amet ".repeat(8);
  return `## Part ${number}\n\nSome **bold** words, \`code\` and a [link](https://example.org). ${words}\n\n\`\`\`python\n${code}\n\`\`\`\n\n- one\n- two\n\n`;
}

/** Passages up to that many characters. */
export function text(size) {
  let all = "";
  for (let number = 0; all.length < size; number += 1) all += passage(number);
  return all;
}

/** A whole session of that many characters: prompts, thoughts, tool calls with their output, answers. */
export function transcript(size) {
  const items = [];
  for (let number = 0, length = 0; length < size; number += 1) {
    const said = passage(number) + passage(number + 1);
    const call = { kind: "tool", toolKind: "read", status: "completed", summary: "12 lines", diffs: [], location: null };
    items.push(
      { kind: "user", id: `u${number}`, text: "Go on", attached: [] },
      { kind: "thought", id: `t${number}`, text: said.slice(0, 300), since: 0, seconds: 2 },
      { ...call, id: `c${number}`, title: "read a.py", output: said, since: 0, seconds: 1 },
      { kind: "message", id: `m${number}`, text: said },
    );
    length += 2 * said.length;
  }
  return snapshot(chatOf(items));
}

/** One answer of that many characters. */
export function answer(size) {
  return snapshot(chatOf([{ kind: "message", id: "m1", text: text(size) }]));
}

/** An answer that comes in so many deltas, a few to each message as the host sends them. */
export function deltas(whole, count, together = 3) {
  const size = Math.ceil(whole.length / count);
  const event = (at) => ({
    kind: "update",
    live: true,
    at: 0,
    update: {
      sessionUpdate: "agent_message_chunk",
      messageId: "m1",
      content: { type: "text", text: whole.slice(at, at + size) },
    },
  });
  const events = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) => event(index * size));
  return Array.from({ length: Math.ceil(events.length / together) }, (_, index) => ({
    kind: "events",
    sessionId: "s1",
    events: events.slice(index * together, (index + 1) * together),
  }));
}
