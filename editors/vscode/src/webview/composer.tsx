/** The input: grows with what is typed, completes mentions, takes pasted pictures, sends and stops. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Completion, PastedImage } from "../chat/bridge";
import { unfinished } from "../chat/mentions";
import type { ChatState } from "../chat/state";
import { percent, tokens } from "../chat/words";
import { saveDraft, savedDraft, send } from "./host";
import { IconButton } from "./text";

interface Props {
  readonly chat: ChatState;
  readonly completions: { readonly query: string; readonly found: readonly Completion[] };
  /** Text to put into the input; each object once. */
  readonly composed: { readonly text: string } | null;
}

export function Composer({ chat, completions, composed }: Props) {
  const [text, setText] = useState(savedDraft);
  const [images, setImages] = useState<readonly PastedImage[]>([]);
  const [query, setQuery] = useState<string>();
  const [picked, setPicked] = useState(0);
  const input = useRef<HTMLTextAreaElement>(null);
  const busy = chat.status.busy;
  const offered = query !== undefined && completions.query === query ? completions.found : [];

  const change = (value: string) => {
    setText(value);
    saveDraft(value);
  };
  useEffect(() => {
    if (composed === null) return;
    if (composed.text !== "") change(composed.text);
    input.current?.focus();
  }, [composed]);
  useLayoutEffect(() => grow(input.current), [text]);

  const typed = (area: HTMLTextAreaElement) => {
    change(area.value);
    const wanted = unfinished(area.value, area.selectionStart);
    setQuery(wanted);
    setPicked(0);
    if (wanted !== undefined) send({ kind: "complete", query: wanted });
  };
  const take = (completion: Completion) => {
    const area = input.current;
    if (area === null || query === undefined) return;
    const end = area.selectionStart;
    change(`${text.slice(0, end - query.length - 1)}${completion.insert} ${text.slice(end)}`);
    setQuery(undefined);
    area.focus();
  };
  const submit = (how: "prompt" | "steer") => {
    if (text.trim() === "" && images.length === 0) return;
    send({ kind: "send", text: text.trim(), how, images });
    change("");
    setImages([]);
    setQuery(undefined);
  };
  const press = (event: KeyboardEvent) => {
    if (offered.length > 0 && pick(event, offered, picked, { setPicked, take, close: () => setQuery(undefined) }))
      return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit(event.altKey && busy ? "steer" : "prompt");
    } else if (event.key === "Escape" && busy) {
      event.preventDefault();
      send({ kind: "stop" });
    }
  };

  return (
    <div class="composer">
      {offered.length > 0 && <Completions found={offered} picked={picked} take={take} />}
      {images.length > 0 && (
        <ul class="attached" aria-label="Pictures">
          {images.map((image, index) => (
            <li key={index}>
              <img src={`data:${image.mimeType};base64,${image.data}`} alt={`Pasted ${index + 1}`} />
              <IconButton icon="close" label="Remove picture" onClick={() => setImages(images.toSpliced(index, 1))} />
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={input}
        rows={1}
        value={text}
        aria-label="Prompt"
        aria-controls={offered.length > 0 ? "completions" : undefined}
        aria-activedescendant={offered.length > 0 ? `completion-${picked}` : undefined}
        placeholder={busy ? "Say what comes next" : "Ask, or mention with @"}
        disabled={chat.readOnly !== null}
        onInput={(event) => typed(event.currentTarget)}
        onKeyDown={press}
        onPaste={(event) => paste(event, (image) => setImages((known) => [...known, image]))}
      />
      <div class="controls">
        <Pickers chat={chat} />
        <IconButton
          icon="mention"
          label="Mention a file, the selection or problems"
          onClick={() => {
            const area = input.current;
            if (area === null) return;
            area.focus();
            area.setRangeText(/(^|\s)$/.test(text) ? "@" : " @", area.selectionStart, area.selectionEnd, "end");
            typed(area);
          }}
        />
        <Meter chat={chat} />
        <span class="spring" />
        {busy && (
          <IconButton icon="debug-stop" class="stop" label="Stop (Escape)" onClick={() => send({ kind: "stop" })} />
        )}
        <IconButton
          icon={busy ? "add" : "send"}
          class="send"
          label={busy ? "Queue (Enter), or steer now (Alt+Enter)" : "Send (Enter)"}
          disabled={text.trim() === "" && images.length === 0}
          onClick={() => submit("prompt")}
        />
      </div>
    </div>
  );
}

interface Picking {
  readonly setPicked: (index: number) => void;
  readonly take: (completion: Completion) => void;
  readonly close: () => void;
}

/** Whether the key was meant for the list. */
function pick(event: KeyboardEvent, offered: readonly Completion[], picked: number, how: Picking): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const chosen = offered[picked];
  if (step !== undefined) how.setPicked((picked + step + offered.length) % offered.length);
  else if ((event.key === "Enter" || event.key === "Tab") && chosen !== undefined) how.take(chosen);
  else if (event.key === "Escape") how.close();
  else return false;
  event.preventDefault();
  return true;
}

function Completions({
  found,
  picked,
  take,
}: {
  readonly found: readonly Completion[];
  readonly picked: number;
  readonly take: (one: Completion) => void;
}) {
  return (
    <div id="completions" class="completions" role="listbox" aria-label="Mentions">
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

function Pickers({ chat }: { readonly chat: ChatState }) {
  const model = chat.options.find((option) => option.category === "model");
  return (
    <>
      {chat.modes !== null && (
        <select
          aria-label="Mode"
          title={chat.modes.availableModes.find((mode) => mode.id === chat.modes?.currentModeId)?.description ?? "Mode"}
          value={chat.modes.currentModeId}
          onChange={(event) => send({ kind: "setMode", modeId: event.currentTarget.value })}
        >
          {chat.modes.availableModes.map((mode) => (
            <option key={mode.id} value={mode.id} title={mode.description ?? ""}>
              {mode.name}
            </option>
          ))}
        </select>
      )}
      {model !== undefined && (
        <select
          aria-label="Model"
          title={`Model: ${model.currentValue}`}
          class="model"
          value={model.currentValue}
          onChange={(event) => send({ kind: "setOption", configId: model.id, value: event.currentTarget.value })}
        >
          {model.options.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.name.split("/").at(-1)}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

/** A ring that fills with the model's window. */
function Meter({ chat }: { readonly chat: ChatState }) {
  if (chat.usage === null) return null;
  const { used, size, cost } = chat.usage;
  const share = percent(used, size);
  const label = `Context ${share} %: ${tokens(used)} of ${tokens(size)} tokens${cost === null ? "" : `, $${cost.toFixed(4)} so far`}`;
  return (
    <span class="meter" role="img" aria-label={label} title={label}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <circle cx="8" cy="8" r="6" class="ring" />
        <circle
          cx="8"
          cy="8"
          r="6"
          class="used"
          pathLength="100"
          stroke-dasharray={`${Math.max(share, 1)} 100`}
          transform="rotate(-90 8 8)"
        />
      </svg>
      {share >= 50 && <span>{share} %</span>}
    </span>
  );
}

/** As high as its text, up to eight lines (the stylesheet's limit). */
function grow(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

function paste(event: ClipboardEvent, add: (image: PastedImage) => void): void {
  for (const file of event.clipboardData?.files ?? []) {
    if (!file.type.startsWith("image/")) continue;
    event.preventDefault();
    const reader = new FileReader();
    reader.onload = () => add({ mimeType: file.type, data: String(reader.result).split(",")[1] ?? "" });
    reader.readAsDataURL(file);
  }
}
