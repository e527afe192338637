/** The list above the input: of mentions, or of commands. The keyboard stays in the input. */

import { useEffect } from "preact/hooks";
import type { Completion } from "../chat/bridge";

interface Picking {
  readonly setPicked: (index: number) => void;
  readonly take: (completion: Completion) => void;
  readonly close: () => void;
}

/** Whether the key was meant for the list. */
export function pick(event: KeyboardEvent, offered: readonly Completion[], picked: number, how: Picking): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const chosen = offered[picked];
  if (step !== undefined) how.setPicked((picked + step + offered.length) % offered.length);
  else if ((event.key === "Enter" || event.key === "Tab") && chosen !== undefined) how.take(chosen);
  else if (event.key === "Escape") how.close();
  else return false;
  event.preventDefault();
  return true;
}

interface Props {
  readonly found: readonly Completion[];
  readonly picked: number;
  readonly take: (one: Completion) => void;
  readonly label: string;
}

export function Completions({ found, picked, take, label }: Props) {
  useEffect(() => {
    document.getElementById(`completion-${picked}`)?.scrollIntoView({ block: "nearest" });
  }, [picked]);
  return (
    <div id="completions" class="completions" role="listbox" aria-label={label}>
      {found.map((one, index) => (
        <div
          key={one.insert}
          id={`completion-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === picked}
          class={index === picked ? "picked" : ""}
          // Not on click: the input must keep the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            take(one);
          }}
        >
          <span class="object">{one.label}</span>
          <span class="outcome">{one.detail}</span>
        </div>
      ))}
    </div>
  );
}
