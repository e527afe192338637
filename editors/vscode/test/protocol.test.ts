import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
// @ts-expect-error: a script without types
import { render } from "../scripts/protocol.mjs";
import { apply } from "../src/chat/reduce";
import { emptyChat } from "../src/chat/state";
import { readUpdate } from "../src/protocol/acp";
import type { EditProposed, EditStateChanged, SessionUpdate, Status } from "../src/protocol/messages";
import { isOpen } from "../src/review/model";
import { applyReview } from "../src/review/reduce";
import { shownText } from "../src/review/shown";

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
const golden = <Message>(name: string) => JSON.parse(read(`../../../protocol/golden/${name}.json`)).params as Message;
const schemaText = read("../../../protocol/schema.json");

test("the types are those of protocol/schema.json: else run `npm run protocol`", () => {
  expect(read("../src/protocol/messages.ts")).toBe(render(schemaText));
});

describe("the golden messages", () => {
  test("of a stream make a message", () => {
    const { update } = golden<SessionUpdate>("session-update");
    const told = readUpdate(update);

    const chat = told && apply(emptyChat("s1"), { kind: "update", update: told, live: true, at: 0 });

    expect(chat?.items).toEqual([{ kind: "message", id: "m1", text: "I will " }]);
  });

  test("of a status are what the status bar shows", () => {
    const status = golden<Status>("status");

    const chat = apply(emptyChat("s1"), { kind: "status", status, at: 0 });

    expect(chat.status).toMatchObject({ state: "confirming", busy: true });
  });

  test("of an edit are a proposal that waits, until its state says otherwise", () => {
    const proposed = applyReview(new Map(), { kind: "proposed", told: golden<EditProposed>("edit-proposed") });
    const [review] = proposed.values();
    expect(review && isOpen(review)).toBe(true);
    expect(review?.files[0] && shownText(review.files[0])).toBe(
      golden<EditProposed>("edit-proposed").files[0]?.newText,
    );

    const applied = applyReview(proposed, { kind: "state", told: golden<EditStateChanged>("edit-state") });

    expect([...applied.values()].map((one) => one.state)).toEqual(["applied"]);
  });
});

test("an update that this version does not know is ignored, and so is one that says nothing", () => {
  expect(readUpdate({ sessionUpdate: "from_the_future", x: 1 })).toBeUndefined();
  expect(readUpdate({ sessionUpdate: "tool_call" })).toBeUndefined();
  expect(readUpdate({ sessionUpdate: "toString" })).toBeUndefined();
});
