import { describe, expect, test } from "vitest";
import { announcement } from "../src/chat/announce";
import { localCommand, offeredCommands, unfinishedCommand } from "../src/chat/commands";
import { fuzzyFind, fuzzyScore } from "../src/chat/fuzzy";
import { mentions, withoutMention } from "../src/chat/mentions";
import type { EndItem, Item } from "../src/chat/state";
import { emptyChat } from "../src/chat/state";
import { clean, hear } from "../src/chat/terminal";
import { askedOutput } from "../src/chat/tools";
import { exportName, plainWords } from "../src/chat/words";

const CHAT = emptyChat("s1");

describe("commands", () => {
  test("are completed while they are all there is", () => {
    expect(unfinishedCommand("/mo", 3)).toBe("mo");
    expect(unfinishedCommand("/mo", 1)).toBe("");
    expect(unfinishedCommand("see /mo", 7)).toBeUndefined();
    expect(unfinishedCommand("/model x", 8)).toBeUndefined();
  });

  test("are our own and then what else the server has", () => {
    const commands = [
      { name: "undo", description: "Theirs" },
      { name: "compact", description: "Shorten", input: { hint: "what to keep" } },
    ];

    const offered = offeredCommands({ ...CHAT, commands }, "");

    expect(offered.map((one) => one.label)).toEqual([
      "/new",
      "/clear",
      "/model",
      "/mode",
      "/resume",
      "/fork",
      "/rename",
      "/export",
      "/undo",
      "/rewind",
      "/compact",
    ]);
    expect(offered.at(-1)?.detail).toBe("Shorten (what to keep)");
    expect(offeredCommands(CHAT, "mo").map((one) => one.label)).toEqual(["/model", "/mode"]);
  });

  test("are done here when they stand alone, and sent to the server otherwise", () => {
    expect(localCommand(" /undo ")).toBe("agent.undo");
    expect(localCommand("/rewind 3 files apply")).toBeUndefined();
    expect(localCommand("/compact")).toBeUndefined();
  });
});

describe("files are found", () => {
  const paths = ["src/chat/reduce.ts", "src/chat/tools.ts", "test/reduce.test.ts", "README.md"];

  test("by a part of their name before letters that are spread", () => {
    expect(fuzzyFind(paths, "reduce", 5)).toEqual(["src/chat/reduce.ts", "test/reduce.test.ts"]);
    expect(fuzzyFind(paths, "sct", 5)[0]).toBe("src/chat/tools.ts");
    expect(fuzzyFind(paths, "chat/red", 5)).toEqual(["src/chat/reduce.ts"]);
  });

  test("whatever the case, and not at all without the letters", () => {
    expect(fuzzyFind(paths, "readme", 5)).toEqual(["README.md"]);
    expect(fuzzyScore("a.ts", "xyz")).toBeUndefined();
  });
});

describe("a mention is removed", () => {
  test.each([
    ["Fix @a.py and @b.py", "@a.py", "Fix and @b.py"],
    ["@selection what is it", "@selection", "what is it"],
    ['see @"my notes.md", please', '@"my notes.md"', "see, please"],
    ["see @a.py.", "@a.py", "see."],
  ])("from %j", (text, word, rest) => {
    const [mention] = mentions(word);

    expect(mention && withoutMention(text, mention)).toBe(rest);
  });
});

describe("what a screen reader hears", () => {
  const end: EndItem = { kind: "end", id: "e", why: null, failed: false, tokens: 1, cost: null, seconds: 1 };
  const said = (text: string): Item => ({ kind: "message", id: "m", text });
  const busy = { state: "streaming", label: "Answering", busy: true, turnId: "t1" } as const;

  test("does not change while an answer streams", () => {
    const one = announcement({ ...CHAT, status: busy, items: [said("a")] });
    const two = announcement({ ...CHAT, status: { ...busy, label: "Reading" }, items: [said("a b")] });

    expect(one).toBe("The agent works");
    expect(two).toBe(one);
  });

  test("is the answer once it is complete, and the reason when there is none", () => {
    expect(announcement({ ...CHAT, items: [said("Done: two files."), end] })).toBe("Done: two files.");
    expect(announcement({ ...CHAT, items: [said("Half"), { ...end, why: "Cancelled" }] })).toBe("Cancelled");
    expect(announcement({ ...CHAT, items: [said("x".repeat(500)), end] })).toHaveLength(402);
  });

  test("is a question as long as it waits", () => {
    const ask: Item = { kind: "ask", id: "q", question: "Which one?", options: [], answer: null };

    expect(announcement({ ...CHAT, status: busy, items: [ask] })).toBe("The agent asks: Which one?");
  });
});

describe("the output of a terminal", () => {
  test("is plain text, with the command and how it ended", () => {
    const start = { command: "make", output: "", exitCode: null };
    const heard = ["\u001b]633;C\u0007\u001b[31mred\u001b[0m\r\n", "10%\r100%\r\n"].reduce(hear, start);

    expect(clean({ ...heard, exitCode: 2 })).toBe("$ make\nred\n100%\n(exit code 2)");
  });

  test("is said to be missing when nothing came", () => {
    expect(clean({ command: "true", output: "\r\n", exitCode: 0 })).toBe("$ true\n(no output was seen)\n(exit code 0)");
  });

  test("keeps its end when it is long", () => {
    const text = clean({ command: "yes", output: `${"y\n".repeat(50_000)}the end`, exitCode: null });

    expect(text.length).toBeLessThan(31_000);
    expect(text.endsWith("the end")).toBe(true);
  });
});

test("a question shows the lines of a diff that change, and two around them", () => {
  const oldText = "1\n2\n3\n4\n5\n6\n7\n";

  expect(askedOutput([{ type: "diff", path: "a.py", oldText, newText: oldText.replace("4\n", "four\n") }])).toBe(
    "a.py\n\n```diff\n 2\n 3\n-4\n+four\n 5\n 6\n```",
  );
});

test("words for other places", () => {
  expect(exportName("Make `parse_date` accept ISO weeks!", "md")).toBe("make-parse-date-accept-iso-weeks.md");
  expect(exportName(null, "json")).toBe("session.json");
  expect(plainWords("```sh\nrm x\n```\nWhy you are asked: it deletes")).toBe("rm x\nWhy you are asked: it deletes");
});
