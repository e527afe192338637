import { describe, expect, test } from "vitest";
import { cutFurther, NOTHING, readCode, segments, split, splitFurther } from "../src/chat/blocks";
import { applyWords, mentionOf, mentions, promptBlocks, unfinished } from "../src/chat/mentions";
import { newTool } from "../src/chat/tools";
import { duration, lookOf, optionWords, outputBlock, pendingWords, percent, tokens, toolLine } from "../src/chat/words";

describe("mentions", () => {
  test("are words that begin with @, each once", () => {
    expect(mentions("Fix @src/a.py, then @selection and @src/a.py.")).toEqual([
      { kind: "file", path: "src/a.py" },
      { kind: "selection" },
    ]);
  });

  test("are no addresses, decorators inside words or bare signs", () => {
    expect(mentions("write to me@example.org about @ and a@b")).toEqual([]);
  });

  test("of a path with blanks are quoted, and read back", () => {
    expect(mentions(`see ${mentionOf("my notes.md")}`)).toEqual([{ kind: "file", path: "my notes.md" }]);
  });

  test("are unfinished up to the cursor only", () => {
    expect(unfinished("see @src/a and", 10)).toBe("src/a");
    expect(unfinished("see @src/a and", 14)).toBeUndefined();
    expect(unfinished("@", 1)).toBe("");
  });

  test("name the file that code is applied to, in a fence that the code cannot end", () => {
    const words = applyWords("my notes.md", "a\n```\nb\n");
    expect(mentions(words)).toEqual([{ kind: "file", path: "my notes.md" }]);
    expect(words).toMatch(/\n````\na\n```\nb\n````$/);
  });

  test("follow what was typed", () => {
    const link = { type: "resource_link", uri: "file:///w/a.py", name: "a.py" } as const;

    expect(promptBlocks("Look at @a.py", [link])).toEqual([{ type: "text", text: "Look at @a.py" }, link]);
  });
});

/** Two blocks that are long enough not to share a piece. */
const LONG = `${"many words ".repeat(200)}\n\n`;

describe("pieces of streaming Markdown", () => {
  test.each([
    ["", []],
    ["one\n\ntwo", ["one\n\ntwo"]],
    [`${LONG}two`, [LONG, "two"]],
    ["a\n\n```py\nx\n\ny\n```\n\nz", ["a\n\n", "```py\nx\n\ny\n```\n", "\nz"]],
    ["a\n```\nx\n```\nz", ["a\n", "```\nx\n```\n", "z"]],
    ["````\n```\n\n````\n\nz", ["````\n```\n\n````\n", "\nz"]],
    [`- ${LONG}- b\n\n  more\n\nend`, [`- ${LONG}- b\n\n  more\n\n`, "end"]],
    ["1. a\n   ```\n   x\n   ```\n2. b", ["1. a\n   ```\n   x\n   ```\n2. b"]],
  ])("%j are cut where nothing can change any more", (text, parts) => {
    expect(split(text).map((piece) => piece.text)).toEqual(parts);
  });

  test("of a block without an end are cut all the same", () => {
    const items = Array.from({ length: 5_000 }, (_, index) => `- item ${index}\n`).join("");

    const sizes = split(items).map((piece) => piece.text.length);

    expect(Math.max(...sizes)).toBeLessThan(13_000);
  });

  test("are the same however the text came", () => {
    const text = `A\n\n- l\n\n- m\n\n\`\`\`\nx\n\ny\n\`\`\`\n\nend\n\nmore ${LONG}~~~js\nlet a = "\`\`\`";\n~~~\n1. one\n\nend`;
    let grown = NOTHING;

    for (let end = 1; end <= text.length; end += 1) {
      grown = splitFurther(grown, text.slice(0, end));
      expect(grown.pieces).toEqual(split(text.slice(0, end)));
      expect(grown.pieces.map((piece) => piece.text).join("")).toBe(text.slice(0, end));
    }

    expect(splitFurther(grown, "another").pieces).toEqual([{ kind: "text", text: "another" }]);
  });

  test("that are done stay the same objects while more comes", () => {
    const before = splitFurther(NOTHING, `${LONG}\`\`\`\nx\n\`\`\`\n${LONG}`);

    const after = splitFurther(before, `${before.text}more`);

    expect(after.pieces.slice(0, 2).every((piece, index) => piece === before.pieces[index])).toBe(true);
  });
});

describe("code", () => {
  test.each([
    ["```py\nx\n```\n", { language: "py", code: "x", closed: true }],
    ["```\n\n```", { language: "", code: "", closed: true }],
    ["```\n```", { language: "", code: "", closed: true }],
    ["```py title=a\nx\ny\n", { language: "py", code: "x\ny", closed: false }],
    ["```p", { language: "p", code: "", closed: false }],
  ])("is read from %j", (piece, code) => {
    expect(readCode(piece)).toEqual(code);
  });

  test("is cut into segments of a bounded size, the same however it came", () => {
    const code = Array.from({ length: 400 }, (_, line) => (line % 7 === 0 ? "" : `line ${line}`)).join("\n");
    let cut = { code: "", parts: [] as readonly string[] };
    for (let end = 0; end <= code.length; end += 13) cut = cutFurther(cut, code.slice(0, end));

    const parts = segments(code);

    expect(cutFurther(cut, code).parts).toEqual(parts);
    expect(parts.join("\n")).toBe(code);
    expect(parts.length).toBeGreaterThan(3);
  });
});

describe("words", () => {
  test("of time, tokens and shares", () => {
    expect([duration(0.04), duration(12.4), duration(75)]).toEqual(["0.0 s", "12 s", "1 min 15 s"]);
    expect([tokens(12), tokens(1_234), tokens(34_567)]).toEqual(["12", "1.2k", "35k"]);
    expect([percent(0, 0), percent(340, 1_000), percent(9, 3)]).toEqual([0, 34, 100]);
  });

  test("of an answer say how far a yes goes", () => {
    const option = (name: string, kind: "allow_once" | "allow_always" | "reject_once") =>
      optionWords({ optionId: "o1", name, kind });

    expect(option("Allow once", "allow_once")).toBe("Allow once");
    expect(option("Allow git status in this session", "allow_always")).toBe("Allow git status in this session");
    expect(option("Once", "allow_once")).toBe("Allow once");
    expect(option("Reject", "reject_once")).toBe("Reject");
    expect(option("Allow a\u202eb in this session", "allow_always")).toBe("Allow a⟨U+202E⟩b in this session");
  });

  test("of an answer do not say again what is asked about", () => {
    const option = { optionId: "o2", name: "Allow git status in this session", kind: "allow_always" } as const;

    expect(optionWords(option, "shell git status")).toBe("Allow in this session");
    expect(optionWords({ ...option, name: "Allow read /a/lo… in this workspace" }, "read /a/long.txt")).toBe(
      "Allow in this workspace",
    );
    expect(optionWords(option, "shell git status && rm x")).toBe("Allow git status in this session");
  });

  test("of what waits", () => {
    expect(pendingWords(1, 1)).toBe("1 edit in 1 file");
    expect(pendingWords(3, 2)).toBe("3 edits in 2 files");
  });
});

describe("a call that is over", () => {
  const item = newTool({ toolCallId: "c1", title: "shell make", kind: "execute", status: "completed" }, 0);

  test("looks failed when its command said no", () => {
    expect(lookOf({ ...item, summary: "exit 3" })).toBe("failed");
    expect(lookOf({ ...item, summary: "exit 0" })).toBe("completed");
    expect(lookOf({ ...item, toolKind: "read", summary: "exit 3" })).toBe("completed");
    expect(toolLine({ ...item, summary: "exit 3" }).outcome).toBe("exit 3");
  });

  test.each(["one\ntwo\n\n# three\n* four", "```\na\n```\nand\n```\nb\n```", "    indented `code`"])(
    "keeps the lines of what it said, %j",
    (output) => {
      expect(readCode(splitFurther(NOTHING, outputBlock(output)).pieces[0]?.text ?? "").code).toBe(output);
      expect(splitFurther(NOTHING, outputBlock(output)).pieces).toHaveLength(1);
    },
  );

  test("is one block, as it is while it runs", () => {
    expect(outputBlock("```\none\ntwo\n```")).toBe("```\none\ntwo\n```");
  });
});
