/** One part of the transcript each. */

import { memo } from "preact/compat";
import { useEffect, useRef, useState } from "preact/hooks";
import { printable, printableLine } from "../chat/printable";
import type { AskItem, EndItem, Item, NoticeItem, QuestionItem, ThoughtItem, ToolItem, UserItem } from "../chat/state";
import { duration, lookOf, optionWords, outputBlock, tokens, toolLine } from "../chat/words";
import { AnswerButton } from "./answer";
import { send } from "./host";
import { Icon, IconButton, Markdown } from "./text";

/** Rendered again only when its item is another object. */
export const ItemView = memo(function ItemView({ item }: { readonly item: Item }) {
  switch (item.kind) {
    case "user":
      return <User item={item} />;
    case "message":
      return (
        <article class="message" aria-label="Agent">
          <Markdown text={item.text} />
        </article>
      );
    case "thought":
      return <Thought item={item} />;
    case "tool":
      return <Tool item={item} />;
    case "question":
      return <Question item={item} />;
    case "ask":
      return <Ask item={item} />;
    case "notice":
      return <Notice item={item} />;
    case "end":
      return <End item={item} />;
  }
});

function User({ item }: { readonly item: UserItem }) {
  return (
    <article class="user" aria-label="You">
      <div class="user-text">{item.text}</div>
      <Attached names={item.attached} />
    </article>
  );
}

/** What goes with a prompt. */
export function Attached({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <ul class="attached" aria-label="Attached">
      {names.map((name, index) => (
        <li key={index}>
          <Icon name={name === "image" ? "file-media" : "attach"} /> {printableLine(name)}
        </li>
      ))}
    </ul>
  );
}

function Thought({ item }: { readonly item: ThoughtItem }) {
  const [open, setOpen] = useState(false);
  const live = item.seconds === null && item.since > 0;
  const label = live ? "Thinking" : item.seconds === null ? "Thought" : `Thought ${duration(item.seconds)}`;
  return (
    <div class="thought">
      <button type="button" class="line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "chevron-down" : "chevron-right"} />
        <span class={live ? "shimmer" : ""}>{label}</span>
      </button>
      {open && (
        <div class="thought-text">
          <Markdown text={item.text} />
        </div>
      )}
    </div>
  );
}

const STATUS_ICONS = {
  pending: "circle-outline",
  in_progress: "loading codicon-modifier-spin",
  completed: "check",
  failed: "error",
} as const;

function Tool({ item }: { readonly item: ToolItem }) {
  const [open, setOpen] = useState(false);
  const { verb, object, outcome } = toolLine(item);
  const look = lookOf(item);
  const location = item.location;
  const openLocation = location && (() => send({ kind: "openFile", path: location.path, line: location.line ?? null }));
  return (
    <div class={`tool ${look}`} data-tool={item.id}>
      <div class="tool-row">
        <button type="button" class="line" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={STATUS_ICONS[look]} />
          <span class="hidden">{look.replace("_", " ")}: </span>
          <span class="verb">{verb}</span>
          <span class="object">{object}</span>
          {outcome !== "" && <span class="outcome">{outcome}</span>}
        </button>
        {openLocation !== null && (
          <IconButton icon="go-to-file" label={`Open ${printableLine(location?.path ?? "")}`} onClick={openLocation} />
        )}
        {item.status === "completed" && item.diffs.length > 0 && (
          <IconButton
            icon="discard"
            label="Take back this edit"
            onClick={() => send({ kind: "revertEdit", toolCallId: item.id })}
          />
        )}
      </div>
      {item.diffs.map((diff) => (
        <button
          key={diff.path}
          type="button"
          class="line diff"
          onClick={() => send({ kind: "openFile", path: diff.path, line: null })}
        >
          <Icon name="diff" />
          <span class="object">{printableLine(diff.path.split(/[/\\]/).at(-1) ?? "")}</span>
          <span class="added">+{diff.added}</span>
          <span class="removed">−{diff.removed}</span>
        </button>
      ))}
      {open && (
        <div class="tool-output">
          {item.output !== "" && <Markdown text={outputBlock(printable(item.output))} />}
          {item.output === "" && item.diffs.length === 0 && <p class="quiet">No output</p>}
        </div>
      )}
    </div>
  );
}

function Answered({ title, answer }: { readonly title: string; readonly answer: string }) {
  return (
    <div class="question answered">
      <Icon name="question" />{" "}
      <span class="object" title={title}>
        {title}
      </span>
      <span class="outcome" title={answer}>
        {answer}
      </span>
    </div>
  );
}

function Question({ item }: { readonly item: QuestionItem }) {
  const [why, setWhy] = useState(false);
  const title = printableLine(item.title);
  if (item.answer !== null) return <Answered title={title} answer={item.answer} />;
  const answer = (optionId: string, feedback: string | null = null) =>
    send({ kind: "answer", id: item.id, optionId, feedback });
  const refusal = item.options.find((option) => option.kind === "reject_once");
  return (
    <section class="question" aria-label={`The agent asks: ${title}`} data-question={item.id} tabIndex={-1}>
      <h3>
        <Icon name="question" /> {QUESTIONS[item.toolKind] ?? "May it go on?"}
      </h3>
      {item.detail !== "" && item.toolKind !== "execute" && <div class="asked">{title}</div>}
      <Markdown text={item.detail === "" ? title : printable(item.detail)} />
      <div class="buttons">
        {item.options.map((option) => (
          <AnswerButton
            key={option.optionId}
            class={option.kind === "allow_once" ? "primary" : "secondary"}
            title={printableLine(option.name)}
            onAnswer={() => answer(option.optionId)}
          >
            {optionWords(option, item.title)}
          </AnswerButton>
        ))}
        {refusal !== undefined && !why && (
          <button type="button" class="secondary" onClick={() => setWhy(true)}>
            No, and say why…
          </button>
        )}
      </div>
      {refusal !== undefined && why && (
        <Words
          label="Why not"
          placeholder="What should it do instead?"
          button="Reject"
          done={(words) => answer(refusal.optionId, words === "" ? null : words)}
        />
      )}
    </section>
  );
}

const QUESTIONS: { readonly [Kind in ToolItem["toolKind"]]?: string } = {
  execute: "Run a command?",
  edit: "Change a file?",
  delete: "Delete a file?",
  move: "Move a file?",
  read: "Read this?",
  fetch: "Fetch from the network?",
};

/** A question of the model: a click on an answer, or words. */
function Ask({ item }: { readonly item: AskItem }) {
  if (item.answer !== null) return null; // the line of its tool call says it
  const tell = (words: string | null) => send({ kind: "tell", id: item.id, words });
  return (
    <section
      class="question"
      aria-label={`The agent asks: ${printableLine(item.question)}`}
      data-question={item.id}
      tabIndex={-1}
    >
      <h3>
        <Icon name="comment-discussion" /> A question for you
      </h3>
      <Markdown text={printable(item.question)} />
      {item.options.length > 0 && (
        <div class="buttons">
          {item.options.map((option) => (
            <AnswerButton key={option} class="secondary" onAnswer={() => tell(option)}>
              {printableLine(option)}
            </AnswerButton>
          ))}
        </div>
      )}
      <Words
        label="Your answer"
        placeholder={item.options.length === 0 ? "Your answer" : "Or in your own words"}
        button="Answer"
        done={(words) => words !== "" && tell(words)}
        quiet
      />
      <AnswerButton class="link" onAnswer={() => tell(null)}>
        Do not answer
      </AnswerButton>
    </section>
  );
}

interface WordsProps {
  readonly label: string;
  readonly placeholder: string;
  readonly button: string;
  readonly done: (words: string) => void;
  /** It was there by itself, and does not take the keyboard. */
  readonly quiet?: boolean;
}

function Words({ label, placeholder, button, done, quiet }: WordsProps) {
  const [words, setWords] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (quiet !== true) input.current?.focus();
  }, []);
  return (
    <form
      class="why"
      onSubmit={(event) => {
        event.preventDefault();
        done(words.trim());
      }}
    >
      <input
        ref={input}
        value={words}
        aria-label={label}
        placeholder={placeholder}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        {button}
      </button>
    </form>
  );
}

function Notice({ item }: { readonly item: NoticeItem }) {
  return (
    <p class={`notice ${item.severity}`} role={item.severity === "error" ? "alert" : "note"}>
      <Icon name={item.severity} /> {item.title}
      {item.description !== null && ` · ${item.description}`}
    </p>
  );
}

function End({ item }: { readonly item: EndItem }) {
  const facts = [
    item.tokens === null || item.tokens === 0 ? "" : `${tokens(item.tokens)} tokens`,
    item.cost === null || Number(item.cost) === 0 ? "" : `$${Number(item.cost).toFixed(4)}`,
    item.seconds === null ? "" : duration(item.seconds),
  ].filter((fact) => fact !== "");
  return (
    <p class={`end ${item.failed ? "failed" : ""}`} role={item.failed ? "alert" : undefined}>
      {item.why !== null && (
        <span class="why">
          <Icon name={item.failed ? "error" : "circle-slash"} /> {item.why}
        </span>
      )}
      <span class="facts">{facts.join(" · ")}</span>
    </p>
  );
}
