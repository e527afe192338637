/** Where the keyboard is in the page: in the input when the chat is opened, on a question when that is to be seen. */

import { send } from "./host";

/** Frames in which something may still be drawn: a long session comes in steps. */
const FRAMES = 120;

/** Whoever opens the chat goes on typing in it. A click into the page says itself where the keyboard is to be. */
export function focusInputOnOpening(): void {
  window.addEventListener("focus", () => {
    send({ kind: "focus", isHere: true });
    setTimeout(() => focusInput());
  });
  window.addEventListener("blur", () => send({ kind: "focus", isHere: false }));
  if (!document.hasFocus()) return;
  send({ kind: "focus", isHere: true });
  focusInput();
}

function focusInput(frames = FRAMES): void {
  if (document.activeElement !== document.body || !document.hasFocus()) return;
  const input = document.querySelector<HTMLElement>(".composer textarea");
  if (input !== null) input.focus();
  else if (frames > 0) requestAnimationFrame(() => focusInput(frames - 1));
}

/** Its card, not its buttons: Tab goes there. */
export function focusQuestion(id: string, frames = FRAMES): void {
  const card = document.querySelector<HTMLElement>(`[data-question="${CSS.escape(id)}"]`);
  if (card !== null) {
    card.scrollIntoView({ block: "nearest" });
    card.focus();
  } else if (frames > 0) requestAnimationFrame(() => focusQuestion(id, frames - 1));
}
