/** The page's entry: messages in, one drawing per frame. */

import { render } from "preact";
import type { ToView } from "../chat/bridge";
import { App } from "./app";
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
    if (!drawing) {
      drawing = true;
      requestAnimationFrame(draw);
    }
  });
  // A link never leaves the page by itself.
  root.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const href = link?.getAttribute("href");
    if (href == null) return;
    event.preventDefault();
    send({ kind: "openLink", href });
  });
  draw();
  send({ kind: "ready" });
}

const root = document.getElementById("chat");
if (root !== null) start(root);
