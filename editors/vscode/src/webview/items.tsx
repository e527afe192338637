/** One part of the transcript each. */

import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import type { EndItem, Item, NoticeItem, QuestionItem, ThoughtItem, ToolItem, UserItem } from "../chat/state";
import { duration, optionWords, tokens, toolLine } from "../chat/words";
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
      {item.attached.length > 0 && (
        <ul class="attached" aria-label="Attached">
          {item.attached.map((name) => (
            <li key={name}>
              <Icon name="paperclip" /> {name}
            </li>
          ))}
        </ul>
      )}
    </article>
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
  const location = item.location;
  const openLocation = location && (() => send({ kind: "openFile", path: location.path, line: location.line ?? null }));
  return (
    <div class={`tool ${item.status}`} data-tool={item.id}>
      <div class="tool-row">
        <button type="button" class="line" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={STATUS_ICONS[item.status]} />
          <span class="hidden">{item.status.replace("_", " ")}: </span>
          <span class="verb">{verb}</span>
          <span class="object">{object}</span>
          {outcome !== "" && <span class="outcome">{outcome}</span>}
        </button>
        {openLocation !== null && (
          <IconButton icon="go-to-file" label={`Open ${location?.path}`} onClick={openLocation} />
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
          <span class="object">{diff.path.split(/[/\\]/).at(-1)}</span>
          <span class="added">+{diff.added}</span>
          <span class="removed">−{diff.removed}</span>
        </button>
      ))}
      {open && (
        <div class="tool-output">
          {item.output === "" ? <p class="quiet">No output</p> : <Markdown text={item.output} />}
        </div>
      )}
    </div>
  );
}

function Question({ item }: { readonly item: QuestionItem }) {
  const [why, setWhy] = useState<string | null>(null);
  if (item.answer !== null) {
    return (
      <div class="question answered">
        <Icon name="question" /> <span class="object">{item.title}</span>
        <span class="outcome">{item.answer}</span>
      </div>
    );
  }
  const answer = (optionId: string, feedback: string | null = null) =>
    send({ kind: "answer", id: item.id, optionId, feedback });
  const refusal = item.options.find((option) => option.kind === "reject_once");
  return (
    <section class="question" role="alertdialog" aria-label={`The agent asks: ${item.title}`} data-question={item.id}>
      <h3>
        <Icon name="question" /> {item.toolKind === "execute" ? "Run a command?" : "May it go on?"}
      </h3>
      <Markdown text={item.detail === "" ? item.title : item.detail} />
      <div class="buttons">
        {item.options.map((option) => (
          <button
            key={option.optionId}
            type="button"
            class={option.kind === "allow_once" ? "primary" : "secondary"}
            onClick={() => answer(option.optionId)}
          >
            {optionWords(option)}
          </button>
        ))}
        {refusal !== undefined && why === null && (
          <button type="button" class="secondary" onClick={() => setWhy("")}>
            No, and say why…
          </button>
        )}
      </div>
      {refusal !== undefined && why !== null && (
        <form
          class="why"
          onSubmit={(event) => {
            event.preventDefault();
            answer(refusal.optionId, why.trim() === "" ? null : why.trim());
          }}
        >
          <input
            // The person has just asked for it.
            ref={(input) => input?.focus()}
            value={why}
            aria-label="Why not"
            placeholder="What should it do instead?"
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
          <button type="submit" class="primary">
            Reject
          </button>
        </form>
      )}
    </section>
  );
}

function Notice({ item }: { readonly item: NoticeItem }) {
  return (
    <p class={`notice ${item.severity}`} role={item.severity === "error" ? "alert" : "note"}>
      <Icon name={item.severity} /> {item.title}
      {item.description !== null && <span class="quiet"> {item.description}</span>}
    </p>
  );
}

function End({ item }: { readonly item: EndItem }) {
  const facts = [
    item.tokens === null ? "" : `${tokens(item.tokens)} tokens`,
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
