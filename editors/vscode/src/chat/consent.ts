/**
 * Every place of this extension where a user can say yes, and what keeps an accident from being one. Pure.
 *
 * Where (`docs/consent.md` has the list, and a test for each):
 *   1. buttons of a question in the chat (`webview/answer.tsx`)
 *   2. answers and words to a question of the model (the same)
 *   3. "Accept all" above the chat's input (the same)
 *   4. keys, lenses, menus and buttons of a diff (`host/reviewing.ts`)
 *   5. lists of VS Code's own that choose how far a yes goes, what is restored or deleted (`host/choosing.ts`)
 *   6. the mode below the chat's input (`webview/controls.tsx`)
 * Notifications and the status bar only show: none of their buttons answers.
 */

/** Milliseconds in which what has just appeared takes no answer: keys and clicks were meant for what was there before. */
export const GUARD_MS = 700;

/** A press of a button, by pointer or key. */
export interface Press {
  /** Clicks in a row at one place, as the browser counts; 0: by a key. */
  readonly clicks: number;
  /** Milliseconds since the button stands there. */
  readonly stands: number;
  /** All of the button is on screen. */
  readonly inView: boolean;
}

/** Whether a press is meant. The second click of two is not: what it hits may be what came after the first. */
export function isMeant({ clicks, stands, inView }: Press): boolean {
  return stands >= GUARD_MS && clicks <= 1 && inView;
}
