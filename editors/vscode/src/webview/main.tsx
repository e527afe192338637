/** The page's entry: messages in, one drawing per frame. */

import { render } from "preact";
import type { ToView } from "../chat/bridge";
import { App } from "./app";
import { focusInputOnOpening, focusQuestion } from "./focus";
import { send } from "./host";
import { EMPTY_PAGE, receive } from "./page";

function start(root: HTMLElement): void {
  let page = EMPTY_PAGE;
  let drawing = false;
  const draw = () => {
    drawing = false;
    render(<App page={page} />, root);
  };
  window.addEventListener("message", ({ data }: MessageEvent<ToView>) => {
    page = receive(page, data);
    if (data.kind === "showQuestion") focusQuestion(data.id);
    if (!drawing) {
      drawing = true;
      requestAnimationFrame(draw);
    }
  });
  root.addEventListener("click", (event) => {
    if (event.target instanceof Element) clicked(event.target, () => event.preventDefault());
  });
  draw();
  focusInputOnOpening();
  send({ kind: "ready" });
}

/** What stands in Markdown: a link never leaves the page by itself, and code can be copied, inserted and applied. */
function clicked(target: Element, keep: () => void): void {
  const href = target.closest("a")?.getAttribute("href");
  if (href != null) {
    keep();
    send({ kind: "openLink", href });
  }
  const action = target.closest("[data-action]")?.getAttribute("data-action");
  const text = target.closest(".code")?.querySelector("pre")?.textContent;
  if (text != null && (action === "copy" || action === "insert" || action === "applyCode"))
    send({ kind: action, text });
}

const root = document.getElementById("chat");
if (root !== null) start(root);
