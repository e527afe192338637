import { describe, expect, test } from "vitest";
import { GUARD_MS, isMeant } from "../src/chat/consent";
import { printable, printableLine } from "../src/chat/printable";
import { noticeText } from "../src/host/notices";

const MEANT = { clicks: 1, stands: GUARD_MS, inView: true };

describe("a press that answers", () => {
  test.each([{}, { clicks: 0 }])("is meant: one click or a key, on what has stood there, %o", (press) => {
    expect(isMeant({ ...MEANT, ...press })).toBe(true);
  });

  test.each([{ stands: GUARD_MS - 1 }, { clicks: 2 }, { clicks: 3 }, { inView: false }])(
    "is none on what has just come, as the second of two, or off screen, %o",
    (press) => {
      expect(isMeant({ ...MEANT, ...press })).toBe(false);
    },
  );
});

describe("hidden characters", () => {
  test.each([
    ["echo safe \u202e# touch evil", "echo safe ⟨U+202E⟩# touch evil"],
    ["a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"],
    ["a\u200bb", "a⟨U+200B⟩b"],
    ["a\u200db", "a⟨U+200D⟩b"],
    ["\x1b[2K\x1b[1A", "␛[2K␛[1A"],
    ["ok\rno", "ok␍no"],
    ["no\b\b", "no␈␈"],
    ["so\u00adft", "so⟨U+00AD⟩ft"],
    ["\u{e0072}\u{e006d}", "⟨U+E0072⟩⟨U+E006D⟩"],
    ["\ufeffx\u2028y", "⟨U+FEFF⟩x⟨U+2028⟩y"],
    ["x\u{e0100}", "x⟨U+E0100⟩"],
    ["inv\u202egpj.exe", "inv⟨U+202E⟩gpj.exe"],
    ["a\x7f\x85", "a␡⟨U+0085⟩"],
  ])("%j is seen as it is", (text, seen) => {
    expect(printable(text)).toBe(seen);
  });

  test.each(["👩‍💻 and ❤️‍🔥", "مرحبا", "שלום", "می‌خواهم", "क्‍ष", "naïve 漢字", "a\tb\nc"])(
    "%j is as people write it, and stays",
    (text) => {
      expect(printable(text)).toBe(text);
    },
  );

  test("a name keeps to its line", () => {
    expect(printableLine("a\r\n\nb.txt")).toBe("a ⏎ b.txt");
  });
});

describe("a notification", () => {
  test("shows words of others as words: none of them is a link that runs a command", () => {
    expect(noticeText("run [Show](command:agent.acceptAll)\u202e now")).toBe(
      "run [Show] (command:agent.acceptAll)⟨U+202E⟩ now",
    );
  });

  test("is short", () => {
    expect(noticeText("x".repeat(5_000))).toHaveLength(1_000);
  });
});
