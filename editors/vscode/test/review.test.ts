import { describe, expect, test } from "vitest";
import type { EditProposed, ProposedHunk } from "../src/protocol/messages";
import { applyHunks, placeHunks, splitLines } from "../src/review/hunks";
import { matchLines } from "../src/review/lines";
import type { Reviews } from "../src/review/model";
import { isOpen, isStaged, isWaiting } from "../src/review/model";
import type { ReviewEvent } from "../src/review/reduce";
import { applyReview } from "../src/review/reduce";
import {
  decisionsOn,
  decisionsOnHunk,
  hunkAt,
  neighbour,
  openFiles,
  places,
  shownText,
  summarise,
} from "../src/review/shown";

const URI = "file:///w/a.py";
const BASE = "one\ntwo\nthree\nfour\n";

function hunk(id: string, from: number, to: number, newText: string): ProposedHunk {
  const range = { start: { line: from, character: 0 }, end: { line: to, character: 0 } };
  return { id, range, oldText: splitLines(BASE).slice(from, to).join(""), newText };
}

const HUNKS = [hunk("h1", 0, 1, "ONE\nplus\n"), hunk("h2", 3, 4, "")];

const PROPOSED: EditProposed = {
  sessionId: "s1",
  turnId: "t1",
  toolCallId: "c1",
  txn: "x1",
  revision: 1,
  review: "ask",
  files: [{ uri: URI, kind: "edit", baseText: BASE, newText: "ONE\nplus\ntwo\nthree\n", hunks: HUNKS }],
};

function play(...events: readonly ReviewEvent[]): Reviews {
  return events.reduce<Reviews>(applyReview, applyReview(new Map(), { kind: "proposed", told: PROPOSED }));
}

function resolved(
  hunkId: string,
  verdict: "accept" | "reject",
  state: "proposed" | "approved" = "proposed",
): ReviewEvent {
  return {
    kind: "resolved",
    decisions: [{ uri: URI, hunk: hunkId, verdict }],
    told: { txn: "x1", revision: 2, state },
  };
}

function fail(): never {
  throw new Error("the proposal is gone");
}

function fileOf(reviews: Reviews) {
  const file = reviews.get("x1")?.files[0];
  if (file === undefined) throw new Error("the proposal is gone");
  return file;
}

describe("hunks", () => {
  test.each(["", "a", "a\n", "a\r\nb\rc\n", "\n\n"])("lines of %j joined are the text", (text) => {
    expect(splitLines(text).join("")).toBe(text);
  });

  test("applied all they make the proposal, applied none the base", () => {
    expect(applyHunks(BASE, HUNKS)).toBe("ONE\nplus\ntwo\nthree\n");
    expect(applyHunks(BASE, [])).toBe(BASE);
  });

  test("stand in the new text where their lines are", () => {
    expect(placeHunks(HUNKS)).toEqual([
      { id: "h1", start: 0, end: 2 },
      { id: "h2", start: 4, end: 4 },
    ]);
  });

  test("into an empty file are the file", () => {
    expect(applyHunks("", [hunk("h", 0, 0, "new\n")])).toBe("new\n");
  });
});

describe("lines found again", () => {
  const letters = (text: string) => [...text].map((letter) => `${letter}\n`);

  test.each([
    ["abc", "abc", [0, 1, 2]],
    ["abc", "xabxc", [1, 2, 4]],
    ["abcabba", "cbabac", null],
    ["", "a", []],
    ["abc", "", [-1, -1, -1]],
  ] as const)("of %j in %j rise and are equal", (one, other, wanted) => {
    const found = matchLines(letters(one), letters(other));

    if (wanted !== null) expect(found).toEqual(wanted);
    const pairs = found.flatMap((to, at) => (to < 0 ? [] : [[at, to] as const]));
    expect(pairs.every(([at, to]) => one[at] === other[to])).toBe(true);
    expect(pairs.every(([, to], at) => at === 0 || to > (pairs[at - 1]?.[1] ?? -1))).toBe(true);
    if (wanted === null) expect(pairs).toHaveLength(4);
  });
});

describe("a review", () => {
  test("shows the proposal, and takes out what is rejected", () => {
    expect(shownText(fileOf(play()))).toBe("ONE\nplus\ntwo\nthree\n");
    expect(shownText(fileOf(play(resolved("h1", "reject"))))).toBe("one\ntwo\nthree\n");
  });

  test("counts a hunk by its place among all of them, also when one before is gone", () => {
    expect(places(fileOf(play(resolved("h1", "reject"))))).toEqual([
      { id: "h2", state: "pending", start: 3, end: 3, number: 2, of: 2 },
    ]);
  });

  test("that the user edited keeps its hunks, at what became of their lines", () => {
    const file = fileOf(play({ kind: "edited", txn: "x1", uri: URI, text: "mine\nONE\nplus\ntwo\nthree\nmine\n" }));

    expect(places(file).map(({ id, start, end }) => [id, start, end])).toEqual([
      ["h1", 1, 3],
      ["h2", 5, 5],
    ]);
    expect(decisionsOn(file, "accept")).toEqual([{ uri: URI, verdict: "accept", editedText: file.edited }]);
  });

  test.each(["mine\n", "", "ONE\n", "two\nthree\n", "ONE\nplus\ntwo\nthree"])("keeps every letter of %j", (text) => {
    const file = fileOf(play({ kind: "edited", txn: "x1", uri: URI, text }));

    expect(shownText(file)).toBe(text);
    expect(places(file).every(({ start, end }) => 0 <= start && start <= end)).toBe(true);
    expect(decisionsOn(file, "accept")).toEqual([{ uri: URI, verdict: "accept", editedText: text }]);
  });

  test("that the user edited is decided hunk by hunk, the last with all that stands there", () => {
    const edited = play({ kind: "edited", txn: "x1", uri: URI, text: "ONE\nplus\nmine\ntwo\nthree\n" });

    expect(decisionsOnHunk(fileOf(edited), "h1", "reject")).toEqual([{ uri: URI, hunk: "h1", verdict: "reject" }]);
    const file = fileOf(applyReview(edited, resolved("h1", "reject")));
    expect(shownText(file)).toBe("one\nmine\ntwo\nthree\n");
    expect(decisionsOnHunk(file, "h2", "accept")).toEqual([
      { uri: URI, verdict: "accept", editedText: "one\nmine\ntwo\nthree\n" },
    ]);
    expect(decisionsOnHunk(file, "h2", "reject")).toEqual([
      { uri: URI, verdict: "accept", editedText: "one\nmine\ntwo\nthree\nfour\n" },
    ]);
  });

  test("whose right side says what the file says already is a no", () => {
    const file = fileOf(play({ kind: "edited", txn: "x1", uri: URI, text: BASE }));

    expect(decisionsOn(file, "accept")).toEqual([{ uri: URI, verdict: "reject" }]);
  });

  test("is not edited by VS Code's own line ends, and keeps those of lines that nobody touched", () => {
    const told = {
      ...PROPOSED,
      files: [
        {
          uri: URI,
          kind: "edit" as const,
          baseText: "",
          newText: "a\r\nb\nc\n",
          hunks: [hunk("h", 0, 0, "a\r\nb\nc\n")],
        },
      ],
    };
    const reviews = applyReview(new Map(), { kind: "proposed", told });
    const edited = (text: string) => fileOf(applyReview(reviews, { kind: "edited", txn: "x1", uri: URI, text }));

    expect(edited("a\nb\nc\n").edited).toBeNull();
    expect(edited("a\nb\nx\nc\n").edited).toBe("a\r\nb\nx\nc\n");
  });

  test("that was edited back is as proposed", () => {
    const edited = { kind: "edited", txn: "x1", uri: URI } as const;

    expect(fileOf(play({ ...edited, text: "x" }, { ...edited, text: "ONE\nplus\ntwo\nthree\n" })).edited).toBeNull();
  });

  test("accepted as a file never takes back the no to a hunk", () => {
    expect(decisionsOn(fileOf(play(resolved("h1", "reject"))), "accept")).toEqual([
      { uri: URI, hunk: "h2", verdict: "accept" },
    ]);
    expect(decisionsOn(fileOf(play(resolved("h1", "accept"))), "reject")).toEqual([{ uri: URI, verdict: "reject" }]);
  });

  test("names the revision of the last answer", () => {
    expect(play(resolved("h1", "accept")).get("x1")?.revision).toBe(2);
  });

  test("keeps the person's decisions while the server still calls them pending", () => {
    const files = [{ uri: URI, state: "proposed", hunks: [{ id: "h1", state: "pending" }] }] as const;
    const told = { sessionId: "s1", txn: "x1", revision: 3, state: "proposed", files } as const;

    expect(fileOf(play(resolved("h1", "accept"), { kind: "state", told })).hunks[0]?.state).toBe("accepted");
  });

  test("tells a conflict and its reason", () => {
    const hunks = [{ id: "h1", state: "conflict" }] as const;
    const files = [{ uri: URI, state: "conflict", message: "the document has changed since", hunks }] as const;
    const reviews = play({
      kind: "state",
      told: { sessionId: "s1", txn: "x1", revision: 3, state: "conflict", files },
    });

    expect(reviews.get("x1")?.state).toBe("conflict");
    expect(fileOf(reviews)).toMatchObject({ message: "the document has changed since" });
    expect(fileOf(reviews).hunks[0]?.state).toBe("conflict");
  });

  test("waits for nobody once it is decided, or the server is gone", () => {
    const open = (reviews: Reviews) => [...reviews.values()].flatMap(openFiles).length;

    expect(open(play())).toBe(1);
    expect(open(play(resolved("h1", "accept", "approved")))).toBe(0);
    expect(open(play({ kind: "lost" }))).toBe(0);
  });

  test("that is only staged is listed, waits for nobody, and leaves once its review is over", () => {
    const staged = applyReview(new Map(), { kind: "proposed", told: { ...PROPOSED, review: "staged" } });
    const told = { sessionId: "s1", txn: "x1", revision: 2, state: "abandoned", files: [] } as const;

    expect([...staged.values()].map(isStaged)).toEqual([true]);
    expect(summarise(staged, "s1", () => null).edits).toBe(0);
    expect(applyReview(staged, { kind: "state", told }).size).toBe(0);
    expect(applyReview(staged, { kind: "lost" }).size).toBe(0);
    const asked = applyReview(staged, { kind: "proposed", told: { ...PROPOSED, txn: "x2" } });
    expect([...asked.keys()]).toEqual(["x2"]);
  });

  test("that is told anew keeps the decisions on the same lines, and the person's text", () => {
    const hunks = [hunk("h3", 1, 2, "TWO\n"), ...HUNKS.slice(1)];
    const again = {
      ...PROPOSED,
      revision: 5,
      files: [{ ...PROPOSED.files[0], uri: URI, kind: "edit", hunks }],
    } as const;
    const file = fileOf(play(resolved("h2", "reject"), { kind: "proposed", told: again }));
    const mine = { kind: "edited", txn: "x1", uri: URI, text: "mine\n" } as const;

    expect(file.hunks.map((one) => one.state)).toEqual(["pending", "rejected"]);
    expect(fileOf(play(mine, { kind: "proposed", told: again })).edited).toBe("mine\n");
  });

  test("of a text that is too large to be sent waits for it, and shows it", () => {
    const large = {
      ...PROPOSED,
      files: [{ uri: URI, kind: "edit", baseText: null, newText: null, hunks: HUNKS }],
    } as const;
    const told = applyReview(new Map(), { kind: "proposed", told: large });
    const content = { kind: "content", txn: "x1", uri: URI, base: BASE, proposed: "ONE\nplus\ntwo\nthree\n" } as const;

    expect(shownText(fileOf(applyReview(told, content)))).toBe("ONE\nplus\ntwo\nthree\n");
    expect(decisionsOn(fileOf(told), "accept").map((one) => one.hunk)).toEqual(["h1", "h2"]);
  });

  test.each([
    ["create", null, "new\n", "new\n"],
    ["delete", "old\n", null, ""],
    ["rename", "same\n", "same\n", "same\n"],
  ] as const)("of a %s is decided as a whole", (kind, baseText, newText, shown) => {
    const files = [{ uri: URI, kind, baseText, newText, hunks: [] }];
    const file = fileOf(applyReview(new Map(), { kind: "proposed", told: { ...PROPOSED, files } }));

    expect(shownText(file)).toBe(shown);
    expect(decisionsOn(file, "accept")).toEqual([{ uri: URI, verdict: "accept" }]);
  });

  test("that a stopped server left open can be decided, and nobody waits for it", () => {
    const hunks = [
      { id: "h1", state: "rejected" },
      { id: "h2", state: "pending" },
    ] as const;
    const files = [{ uri: URI, state: "abandoned", hunks }] as const;
    const told = { sessionId: "s1", txn: "x1", revision: 3, state: "abandoned", files } as const;
    const left = play({ kind: "lost" }, { kind: "state", told });
    const review = (reviews: Reviews) => reviews.get("x1") ?? fail();

    expect([isOpen(review(left)), isWaiting(review(left))]).toEqual([true, false]);
    expect(fileOf(left).hunks.map((one) => one.state)).toEqual(["rejected", "pending"]);
    expect(isOpen(review(play({ kind: "lost" })))).toBe(false);
    expect(summarise(left, "s1", () => null).edits).toBe(1);
    const decided = [resolved("h2", "accept", "approved"), { kind: "state", told } as const].reduce(applyReview, left);
    expect(isOpen(review(decided))).toBe(false);
  });

  test("that was applied already is only shown", () => {
    const reviews = applyReview(new Map(), { kind: "proposed", told: { ...PROPOSED, review: "applied" } });

    expect(summarise(reviews, "s1", () => null)).toEqual({ edits: 0, files: [], outside: [] });
    expect(fileOf(reviews).hunks.map((one) => one.state)).toEqual(["applied", "applied"]);
  });

  test("is summed up by what still waits in this session", () => {
    expect(summarise(play(resolved("h1", "accept")), "s1", () => null)).toEqual({
      edits: 1,
      files: [{ txn: "x1", uri: URI, open: 1 }],
      outside: [],
    });
    expect(summarise(play(), "another", () => null)).toEqual({ edits: 0, files: [], outside: [] });
  });
});

describe("a command at the cursor", () => {
  test("means the hunk there, else the next one, else the last", () => {
    const file = fileOf(play());

    expect([0, 1, 2, 4, 9].map((line) => hunkAt(file, line)?.id)).toEqual(["h1", "h1", "h2", "h2", "h2"]);
  });

  test("goes round between open hunks", () => {
    const file = fileOf(play());

    expect(neighbour(file, 0, 1)?.id).toBe("h2");
    expect(neighbour(file, 4, 1)?.id).toBe("h1");
    expect(neighbour(file, 0, -1)?.id).toBe("h2");
  });
});
