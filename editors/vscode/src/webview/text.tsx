/** Markdown on the page, with buttons on its code. */

import { memo } from "preact/compat";
import { useMemo, useRef } from "preact/hooks";
import { cutFurther, NOTHING, type Piece, readCode, splitFurther } from "../chat/blocks";
import { useGrowing } from "./growing";
import { CODE_ACTIONS, codeToHtml, toHtml } from "./markdown";
import { useNear } from "./near";

/** Characters that are read and put onto the page in one frame. */
const STEP = 100_000;

export function Markdown({ text }: { readonly text: string }) {
  const before = useRef(NOTHING);
  const shown = useGrowing(text.length, STEP);
  before.current = splitFurther(before.current, shown < text.length ? text.slice(0, shown) : text);
  return (
    <div class="markdown">
      {before.current.pieces.map((piece, index) => (
        // Pieces are only ever appended, so that a place is an identity.
        <PieceView key={index} kind={piece.kind} text={piece.text} />
      ))}
    </div>
  );
}

const PieceView = memo(function PieceView({ kind, text }: Piece) {
  return kind === "code" ? <CodeBlock text={text} /> : <Prose text={text} />;
});

function Prose({ text }: { readonly text: string }) {
  const [box, near] = useNear<HTMLDivElement>();
  const html = useMemo(() => (near ? toHtml(text) : ""), [text, near]);
  if (!near) {
    return (
      <div ref={box} class="piece far" style={roomFor(text)}>
        {text}
      </div>
    );
  }
  // Sanitised in `toHtml`.
  return <div ref={box} class="piece" dangerouslySetInnerHTML={{ __html: html }} />;
}

function CodeBlock({ text }: { readonly text: string }) {
  const before = useRef<ReturnType<typeof cutFurther>>({ code: "", parts: [] });
  const { language, code } = readCode(text);
  before.current = cutFurther(before.current, code);
  return (
    <div class="code piece">
      <div class="code-actions" dangerouslySetInnerHTML={{ __html: CODE_ACTIONS }} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, and so must be reached by keys */}
      <pre tabIndex={0}>
        <code>
          {before.current.parts.map((part, index) => (
            <Segment key={index} code={part} language={language} isLast={index === before.current.parts.length - 1} />
          ))}
        </code>
      </pre>
    </div>
  );
}

interface SegmentProps {
  readonly code: string;
  readonly language: string;
  readonly isLast: boolean;
}

const Segment = memo(function Segment({ code, language, isLast }: SegmentProps) {
  const [box, near] = useNear<HTMLSpanElement>();
  const html = useMemo(() => (near ? codeToHtml(code, language) : ""), [code, language, near]);
  const end = isLast ? "" : "\n";
  if (!near) {
    return (
      <span ref={box} class="segment" style={roomFor(code)}>
        {code + end}
      </span>
    );
  }
  // Escaped in `codeToHtml`.
  return <span ref={box} class="segment" style={roomFor(code)} dangerouslySetInnerHTML={{ __html: html + end }} />;
});

/** The height that it most likely needs, so that the page does not jump when it is laid out. */
function roomFor(text: string): { readonly containIntrinsicSize: string } {
  const lines = text.split("\n").length;
  return { containIntrinsicSize: `auto none auto ${lines * LINE_PX}px` };
}

/** Of VS Code's own size of letters. */
const LINE_PX = 19;

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
