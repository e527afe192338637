/** Markdown as safe HTML: no raw HTML, no remote images, links that the host opens, code with colours. */

import createDOMPurify from "dompurify";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import lua from "highlight.js/lib/languages/lua";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import MarkdownIt from "markdown-it";

const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  lua,
  markdown,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Characters of a line or a part that are coloured; a longer one is shown plain. */
const COLOURED = 20_000;

/** Above each block of code; `main.tsx` does what they say. */
export const CODE_ACTIONS = [
  codeButton("copy", "copy", "Copy code"),
  codeButton("insert", "insert", "Insert at cursor"),
  codeButton("applyCode", "diff", "Apply as edit"),
].join("");

function codeButton(action: string, icon: string, label: string): string {
  return `<button type="button" class="icon" data-action="${action}" title="${label}" aria-label="${label}"><span class="codicon codicon-${icon}" aria-hidden="true"></span></button>`;
}

const renderer = new MarkdownIt({ html: false, linkify: false, breaks: false });
// A picture from elsewhere would tell its host who reads this: its words are shown instead.
renderer.renderer.rules["image"] = (tokens, index) => renderer.utils.escapeHtml(tokens[index]?.content ?? "");
// Code inside lists and quotes; code that stands alone is drawn by `text.tsx`.
renderer.renderer.rules["fence"] = (tokens, index) => {
  const { content = "", info = "" } = tokens[index] ?? {};
  const code = codeToHtml(content, info.trim().split(/\s/)[0] ?? "");
  return `<div class="code"><div class="code-actions">${CODE_ACTIONS}</div><pre tabindex="0"><code>${code}</code></pre></div>`;
};

const purify = createDOMPurify(window);
const ALLOWED = {
  ALLOWED_TAGS: [
    "a",
    "blockquote",
    "br",
    "button",
    "code",
    "del",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
  ],
  ALLOWED_ATTR: ["aria-hidden", "aria-label", "class", "data-action", "href", "start", "tabindex", "title", "type"],
  ALLOW_DATA_ATTR: false,
};

export function toHtml(text: string): string {
  return purify.sanitize(renderer.render(text), ALLOWED);
}

/** Code as escaped HTML, in colours where the language is known. */
export function codeToHtml(code: string, language: string): string {
  const isKnown = code.length <= COLOURED && hljs.getLanguage(language) !== undefined;
  return isKnown ? hljs.highlight(code, { language, ignoreIllegals: true }).value : renderer.utils.escapeHtml(code);
}
