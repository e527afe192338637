/** Markdown on the page, with buttons on its code. */

import { memo } from "preact/compat";
import { useMemo, useRef } from "preact/hooks";
import { NOTHING, splitFurther } from "../chat/blocks";
import { useGrowing } from "./growing";
import { send } from "./host";
import { toHtml } from "./markdown";

/** Blocks that are drawn in one frame. */
const STEP = 40;

export function Markdown({ text }: { readonly text: string }) {
  const before = useRef(NOTHING);
  const { blocks } = useMemo(() => {
    before.current = splitFurther(before.current, text);
    return before.current;
  }, [text]);
  const drawn = useGrowing(blocks.length, STEP);
  return (
    <div class="markdown">
      {blocks.slice(0, drawn).map((block, index) => (
        // Blocks are only ever appended, so that a place is an identity.
        <Block key={index} text={block} />
      ))}
    </div>
  );
}

const FENCED = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n {0,3}\1[ \t]*)?\s*$/;

const Block = memo(function Block({ text }: { readonly text: string }) {
  const html = useMemo(() => toHtml(text), [text]);
  const code = FENCED.exec(text)?.[2];
  // Sanitised in `toHtml`.
  const body = <div dangerouslySetInnerHTML={{ __html: html }} />;
  if (code === undefined) return body;
  return (
    <div class="code">
      <div class="code-actions">
        <IconButton icon="copy" label="Copy code" onClick={() => send({ kind: "copy", text: code })} />
        <IconButton icon="insert" label="Insert at cursor" onClick={() => send({ kind: "insert", text: code })} />
      </div>
      {body}
    </div>
  );
});

interface IconButtonProps {
  readonly icon: string;
  readonly label: string;
  readonly onClick: () => void;
  readonly class?: string;
  readonly disabled?: boolean;
  readonly expanded?: boolean;
}

export function IconButton({ icon, label, onClick, disabled, expanded, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon ${rest.class ?? ""}`}
      title={label}
      aria-label={label}
      aria-expanded={expanded}
      disabled={disabled ?? false}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

export function Icon({ name }: { readonly name: string }) {
  return <span class={`codicon codicon-${name}`} aria-hidden="true" />;
}
