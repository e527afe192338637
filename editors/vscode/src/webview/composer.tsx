/** The input: grows with what is typed, completes mentions and commands, takes pasted pictures, sends and stops. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Completion, FromView, PastedImage } from "../chat/bridge";
import { localCommand, offeredCommands, unfinishedCommand } from "../chat/commands";
import { type Mention, mentions, unfinished, withoutMention, written } from "../chat/mentions";
import type { ChatState, Waiting } from "../chat/state";
import { Completions, pick } from "./completions";
import { Meter, Pickers } from "./controls";
import { saveDraft, savedDraft, send } from "./host";
import { Icon, IconButton } from "./text";

interface Props {
  readonly chat: ChatState;
  readonly completions: { readonly query: string; readonly found: readonly Completion[] };
  /** Text to put into the input; each object once. */
  readonly composed: { readonly text: string; readonly keep: boolean } | null;
}

/** The word before the cursor that can be completed. */
interface Wanted {
  readonly kind: "mention" | "command";
  readonly query: string;
}

function wantedAt(text: string, cursor: number): Wanted | undefined {
  const command = unfinishedCommand(text, cursor);
  if (command !== undefined) return { kind: "command", query: command };
  const mention = unfinished(text, cursor);
  return mention === undefined ? undefined : { kind: "mention", query: mention };
}

export function Composer({ chat, completions, composed }: Props) {
  const [text, setText] = useState(savedDraft);
  const [images, setImages] = useState<readonly PastedImage[]>([]);
  const [wanted, setWanted] = useState<Wanted>();
  const [picked, setPicked] = useState(0);
  const input = useRef<HTMLTextAreaElement>(null);
  const busy = chat.status.busy;
  const isEmpty = text.trim() === "" && images.length === 0;
  const offered = offeredFor(wanted, chat, completions);

  const change = (value: string) => {
    setText(value);
    saveDraft(value);
  };
  useEffect(() => {
    if (composed === null) return;
    if (composed.text !== "")
      change(composed.keep && text.trim() !== "" ? `${text}\n\n${composed.text}` : composed.text);
    input.current?.focus();
  }, [composed]);
  useLayoutEffect(() => grow(input.current), [text]);

  const typed = (area: HTMLTextAreaElement) => {
    change(area.value);
    const found = wantedAt(area.value, area.selectionStart);
    setWanted(found);
    setPicked(0);
    if (found?.kind === "mention") send({ kind: "complete", query: found.query });
  };
  const clear = () => {
    change("");
    setImages([]);
    setWanted(undefined);
  };
  const run = (words: string): boolean => {
    const command = localCommand(words);
    if (command === undefined) return false;
    clear();
    send({ kind: "command", command });
    return true;
  };
  const take = (completion: Completion) => {
    const area = input.current;
    if (area === null || wanted === undefined || (wanted.kind === "command" && run(completion.insert))) return;
    const end = area.selectionStart;
    const start = end - wanted.query.length - 1;
    change(`${text.slice(0, start)}${completion.insert} ${text.slice(end)}`);
    setWanted(undefined);
    area.focus();
  };
  const submit = (how: Waiting["how"]) => {
    if (isEmpty || run(text)) return;
    send({ kind: "send", text: text.trim(), how, images });
    clear();
  };
  const press = (event: KeyboardEvent) => {
    const close = () => setWanted(undefined);
    const isWhole = event.key === "Enter" && isTyped(wanted, offered[picked]);
    if (offered.length > 0 && !isWhole && pick(event, offered, picked, { setPicked, take, close })) return;
    const action = actionOf(event, busy);
    if (action === undefined) return;
    event.preventDefault();
    if (action === "stop") send(STOP);
    else submit(action);
  };
  /** Have the list open, as if that sign had been typed. */
  const begin = (sign: string) => {
    const area = input.current;
    if (area === null) return;
    area.focus();
    area.setRangeText(/(^|\s)$/.test(text) ? sign : ` ${sign}`, area.selectionStart, area.selectionEnd, "end");
    typed(area);
  };

  return (
    <div class="composer">
      {offered.length > 0 && (
        <Completions
          found={offered}
          picked={picked}
          take={take}
          label={wanted?.kind === "command" ? COMMANDS : MENTIONS}
        />
      )}
      <Pictures images={images} remove={(index) => setImages(images.toSpliced(index, 1))} />
      <Chips mentioned={mentions(text).filter(isSure)} remove={(one) => change(withoutMention(text, one))} />
      <textarea
        ref={input}
        rows={1}
        value={text}
        aria-label="Prompt"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={offered.length > 0 ? "completions" : undefined}
        aria-activedescendant={offered.length > 0 ? `completion-${picked}` : undefined}
        placeholder={busy ? "Say what comes next" : "Ask, @ mentions, / commands"}
        disabled={chat.readOnly !== null}
        onInput={(event) => typed(event.currentTarget)}
        onKeyDown={press}
        onBlur={() => setWanted(undefined)}
        onPaste={(event) => paste(event, (image) => setImages((known) => [...known, image]))}
      />
      {busy && !isEmpty && <Ways submit={submit} />}
      <div class="controls">
        <Pickers chat={chat} />
        <IconButton
          icon="mention"
          label="Mention a file, the selection, problems or the terminal"
          onClick={() => begin("@")}
        />
        <Meter chat={chat} />
        <span class="spring" />
        {busy && <IconButton icon="debug-stop" class="stop" label="Stop (Escape)" onClick={() => send(STOP)} />}
        {!busy && (
          <IconButton
            icon="send"
            class="send"
            label="Send (Enter)"
            disabled={isEmpty}
            onClick={() => submit("prompt")}
          />
        )}
      </div>
    </div>
  );
}

const STOP: FromView = { kind: "stop" };
const COMMANDS = "Commands";
const MENTIONS = "Mentions";

function offeredFor(
  wanted: Wanted | undefined,
  chat: ChatState,
  completions: Props["completions"],
): readonly Completion[] {
  if (wanted === undefined) return [];
  if (wanted.kind === "command") return offeredCommands(chat, wanted.query);
  return completions.query === wanted.query ? completions.found : [];
}

/** Whether the word that is being typed is already what would be put there. */
function isTyped(wanted: Wanted | undefined, completion: Completion | undefined): boolean {
  if (wanted === undefined) return false;
  return completion?.insert === `${wanted.kind === "command" ? "/" : "@"}${wanted.query}`;
}

/** What a key does in the input; undefined: what it does anywhere. */
function actionOf(event: KeyboardEvent, busy: boolean): Waiting["how"] | "stop" | undefined {
  if (event.key === "Escape") return busy ? "stop" : undefined;
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return undefined;
  if (busy && event.altKey) return "steer";
  return busy && (event.ctrlKey || event.metaKey) ? "redirect" : "prompt";
}

/** What can become of words while a turn runs. */
function Ways({ submit }: { readonly submit: (how: Waiting["how"]) => void }) {
  const modifier = navigator.platform.startsWith("Mac")
    ? { alt: "⌥", control: "⌘" }
    : { alt: "Alt+", control: "Ctrl+" };
  return (
    <fieldset class="ways" aria-label="While it works">
      <Way keys="⏎" label="Queue" title="A turn of its own, after this one" onClick={() => submit("prompt")} />
      <Way keys={`${modifier.alt}⏎`} label="Steer" title="Heard at the next step" onClick={() => submit("steer")} />
      <Way
        keys={`${modifier.control}⏎`}
        label="Redirect"
        title="Heard at once: what it says now is dropped"
        onClick={() => submit("redirect")}
      />
    </fieldset>
  );
}

interface WayProps {
  readonly keys: string;
  readonly label: string;
  readonly title: string;
  readonly onClick: () => void;
}

function Way({ keys, label, title, onClick }: WayProps) {
  return (
    <button type="button" class="secondary" title={title} onClick={onClick}>
      {label} <kbd>{keys}</kbd>
    </button>
  );
}

interface PicturesProps {
  readonly images: readonly PastedImage[];
  readonly remove: (index: number) => void;
}

function Pictures({ images, remove }: PicturesProps) {
  if (images.length === 0) return null;
  return (
    <ul class="attached" aria-label="Pictures">
      {images.map((image, index) => (
        <li key={index}>
          <img src={`data:${image.mimeType};base64,${image.data}`} alt={`Pasted ${index + 1}`} />
          <IconButton icon="close" label={`Remove picture ${index + 1}`} onClick={() => remove(index)} />
        </li>
      ))}
    </ul>
  );
}

/** A word with @ that is hardly anything else than a file. */
function isSure(mention: Mention): boolean {
  return mention.kind !== "file" || /[./]/.test(mention.path);
}

const CHIP_ICONS = { selection: "selection", diagnostics: "warning", terminal: "terminal", file: "file" } as const;

interface ChipsProps {
  readonly mentioned: readonly Mention[];
  readonly remove: (mention: Mention) => void;
}

/** What the prompt will carry. */
function Chips({ mentioned, remove }: ChipsProps) {
  if (mentioned.length === 0) return null;
  return (
    <ul class="chips" aria-label="Context">
      {mentioned.map((mention) => {
        const name = mention.kind === "file" ? mention.path : mention.kind;
        return (
          <li key={written(mention)} title={name}>
            <Icon name={CHIP_ICONS[mention.kind]} />
            <span class="object">{name.split("/").at(-1)}</span>
            <IconButton icon="close" label={`Remove ${name}`} onClick={() => remove(mention)} />
          </li>
        );
      })}
    </ul>
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
