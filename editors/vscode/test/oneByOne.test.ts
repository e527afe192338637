import { expect, test } from "vitest";
import { OneByOne } from "../src/chat/oneByOne";

test("work begins when what was asked for before is done", async () => {
  const said: string[] = [];
  const all = new OneByOne();
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });

  const first = all.run(async () => {
    await gate;
    said.push("first");
  });
  const second = all.run(async () => {
    said.push("second");
  });
  open();
  await Promise.all([first, second]);

  expect(said).toEqual(["first", "second"]);
});

test("what is said meanwhile waits for all of it", async () => {
  const said: string[] = [];
  const all = new OneByOne();

  const moved = all.run(async () => {
    await Promise.resolve();
    said.push("moved");
  });
  await all.settled();
  said.push("spoken");
  await moved;

  expect(said).toEqual(["moved", "spoken"]);
});

test("work that fails is told to who asked for it, and holds up nobody", async () => {
  const all = new OneByOne();

  const failed = all.run(() => Promise.reject(new Error("gone")));

  await expect(failed).rejects.toThrow("gone");
  await all.settled();
  expect(await all.run(async () => "next")).toBe("next");
});
