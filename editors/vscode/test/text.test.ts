import { describe, expect, test } from "vitest";
import { NOTHING, splitBlocks, splitFurther } from "../src/chat/blocks";
import { mentionOf, mentions, promptBlocks, unfinished } from "../src/chat/mentions";
import { duration, optionWords, pendingWords, percent, tokens } from "../src/chat/words";

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

  test("follow what was typed", () => {
    const link = { type: "resource_link", uri: "file:///w/a.py", name: "a.py" } as const;

    expect(promptBlocks("Look at @a.py", [link])).toEqual([{ type: "text", text: "Look at @a.py" }, link]);
  });
});

describe("blocks of streaming Markdown", () => {
  test.each([
    ["", []],
    ["one", ["one"]],
    ["one\n\ntwo", ["one\n\n", "two"]],
    ["a\n\n```py\nx\n\ny\n```\n\nz", ["a\n\n", "```py\nx\n\ny\n```\n\n", "z"]],
    ["````\n```\n\n````\n\nz", ["````\n```\n\n````\n\n", "z"]],
    ["- a\n\n- b\n\n  more\n\nend", ["- a\n\n- b\n\n  more\n\n", "end"]],
    ["1. a\n\n2. b", ["1. a\n\n2. b"]],
  ])("%j are cut where nothing can change any more", (text, parts) => {
    expect(splitBlocks(text)).toEqual(parts);
  });

  test("joined are the text, however it is cut", () => {
    const text = "# T\n\nA *b*\n\n```\ncode\n\n```\n\n> q\n\n- l\n\nend";
    for (let end = 0; end <= text.length; end += 1) {
      expect(splitBlocks(text.slice(0, end)).join("")).toBe(text.slice(0, end));
    }
  });
});

test("a text that grows has the same blocks as one that came at once", () => {
  const text = "A\n\n- l\n\n- m\n\n```\nx\n\ny\n```\n\nend\n\nmore";
  const pieces = [...text].map((_, index) => text.slice(0, index + 1));

  const grown = pieces.reduce(splitFurther, NOTHING);

  expect(grown.blocks).toEqual(splitBlocks(text));
  expect(splitFurther(grown, "another").blocks).toEqual(["another"]);
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

    expect(option("Once", "allow_once")).toBe("Allow once");
    expect(option("`git status`, this session", "allow_always")).toBe("Allow `git status`, this session");
    expect(option("No", "reject_once")).toBe("No");
  });

  test("of what waits", () => {
    expect(pendingWords(1, 1)).toBe("1 edit in 1 file");
    expect(pendingWords(3, 2)).toBe("3 edits in 2 files");
  });
});
