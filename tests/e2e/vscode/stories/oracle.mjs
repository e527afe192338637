// A window that is driven from outside, by its extension host and by real keys, until it is told to end.
import { existsSync, readFileSync, rmSync } from "node:fs";

/** Milliseconds between two looks at what is wanted. */
const LOOK_MS = 20;

/** Types what PLACE/keys says, and removes that; ends when there is PLACE/end. */
export async function held(w, place) {
  const keys = `${place}/keys`;
  while (!existsSync(`${place}/end`)) {
    if (existsSync(keys)) {
      await w.page.keyboard.type(readFileSync(keys, "utf8"));
      rmSync(keys);
    }
    await w.page.waitForTimeout(LOOK_MS);
  }
}
