/** A button that answers: it takes nothing in its first moment, no second click, no key that is held, nothing off screen. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { GUARD_MS, isMeant } from "../chat/consent";

interface Props {
  readonly class: "primary" | "secondary" | "link";
  readonly title?: string;
  readonly children: ComponentChildren;
  readonly onAnswer: () => void;
}

export function AnswerButton({ class: look, title, children, onAnswer }: Props) {
  const since = useRef(performance.now());
  const [stands, setStands] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStands(true), GUARD_MS);
    return () => clearTimeout(timer);
  }, []);
  const press = (event: MouseEvent) => {
    const button = event.currentTarget as HTMLElement;
    const inView = isInView(button);
    if (!inView) button.scrollIntoView({ block: "nearest" });
    if (isMeant({ clicks: event.detail, stands: performance.now() - since.current, inView })) onAnswer();
  };
  return (
    <button
      type="button"
      class={look}
      title={title}
      disabled={!stands}
      onKeyDown={(event) => event.repeat && event.preventDefault()}
      onClick={press}
    >
      {children}
    </button>
  );
}

/** Whether all of it is within the page, and within what scrolls around it. */
function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const around = element.closest(".transcript")?.getBoundingClientRect();
  return top >= Math.max(0, around?.top ?? 0) - 1 && bottom <= Math.min(innerHeight, around?.bottom ?? innerHeight) + 1;
}
