import { expect, test } from "vitest";
import type { EditProposed } from "../src/protocol/messages";
import { aboutWords, placeWords } from "../src/review/place";
import { applyReview } from "../src/review/reduce";
import { diffTitle, folderOf, leftToAccept, leftWords, stateWords } from "../src/review/words";

function proposed(kind: EditProposed["files"][number]["kind"], review: EditProposed["review"] = "ask") {
  const told: EditProposed = {
    sessionId: "s1",
    turnId: "t1",
    toolCallId: "c1",
    txn: "x1",
    revision: 1,
    review,
    files: [{ uri: "file:///w/a%20b.py", oldUri: kind === "rename" ? "file:///w/old.py" : null, kind, hunks: [] }],
  };
  const made = applyReview(new Map(), { kind: "proposed", told }).get("x1");
  const file = made?.files[0];
  if (made === undefined || file === undefined) throw new Error("the proposal is gone");
  return [made, file] as const;
}

test.each([
  ["edit", "a b.py (proposed)"],
  ["create", "a b.py (proposed, new)"],
  ["delete", "a b.py (to be deleted)"],
  ["rename", "old.py → a b.py (proposed)"],
] as const)("a diff of a proposal to %s says so in its title", (kind, title) => {
  expect(diffTitle(...proposed(kind))).toBe(title);
});

test("a diff of what was done is not called proposed", () => {
  expect(diffTitle(...proposed("edit", "applied"))).toBe("a b.py (applied)");
});

test("what waits, is staged or is done is named so", () => {
  expect(
    [proposed("create"), proposed("edit", "staged"), proposed("edit", "applied")].map((one) => stateWords(...one)),
  ).toEqual(["waiting", "staged", "applied"]);
});

const ONE = [{ name: "w", path: "/home/me/w" }];
const TWO = [...ONE, { name: "lib", path: "/home/me/lib" }];

test.each([
  ["/home/me/w/a.py", ONE, ""],
  ["/home/me/w/src/deep/a.py", ONE, "src/deep"],
  ["/home/me/w/src/a.py", TWO, "w/src"],
  ["/home/me/lib/a.py", TWO, "lib"],
  ["/etc/hosts", ONE, "/etc"],
  ["/home/me/w2/a.py", ONE, "/home/me/w2"],
  ["/a.py", [], "/"],
] as const)("%s is in a folder that is named for people", (path, folders, folder) => {
  expect(folderOf(path, folders)).toBe(folder);
});

test("a folder inside another counts as the inner one", () => {
  expect(
    folderOf("/w/in/a.py", [
      { name: "w", path: "/w" },
      { name: "in", path: "/w/in" },
    ]),
  ).toBe("in");
});

test("what was left as it is comes with its reason, a few at a time", () => {
  const left = ["a", "b", "c", "d", "e"].map((name) => ({ uri: `file:///w/${name}.py`, why: "it was changed since" }));

  expect(leftWords([])).toBeNull();
  expect(leftWords(left.slice(0, 1))).toBe("Left as it is: a.py (it was changed since).");
  expect(leftWords(left)).toContain(", 2 more.");
});

const FOLDERS = [{ name: "w", path: "/w" }];

test("a file that is not of the workspace says so, with its whole path, wherever it is named", () => {
  const [review, file] = proposed("edit");
  const outside = { ...file, uri: "file:///etc/ho%E2%80%AEsts" };

  expect(placeWords(review, file, FOLDERS)).toBeNull();
  expect(placeWords(review, outside, FOLDERS)).toBe("outside the workspace: /etc/ho⟨U+202E⟩sts");
  expect(diffTitle(review, outside, placeWords(review, outside, FOLDERS))).toBe(
    "ho⟨U+202E⟩sts (proposed) · outside the workspace: /etc/ho⟨U+202E⟩sts",
  );
  expect(placeWords(review, { ...file, uri: "file:///w2/a.py" }, FOLDERS)).toBe("outside the workspace: /w2/a.py");
});

test("a rename out of the workspace is outside of it, and so is what the server says is", () => {
  const [review, file] = proposed("rename");

  expect(placeWords(review, { ...file, uri: "file:///tmp/a.py" }, FOLDERS)).toBe("outside the workspace: /tmp/a.py");
  expect(placeWords({ ...review, reason: "outside the workspace: /real/a.py" }, file, FOLDERS)).toBe(
    "outside the workspace",
  );
});

test("what stands above a diff names session, place and reason, each once", () => {
  expect(aboutWords(null, null, null)).toBeNull();
  expect(aboutWords(null, "it may hold secrets", "Birds $(check)")).toBe(
    "session “Birds $ (check)” · why you are asked: it may hold secrets",
  );
  expect(aboutWords("outside the workspace: /a", "outside the workspace: /a", null)).toBe(
    "why you are asked: outside the workspace: /a",
  );
});

test("what a yes to all did not take is named", () => {
  expect(leftToAccept(["a", "b", "c", "d"])).toMatch(/^Not accepted: a, b, c and 1 more\./);
});
