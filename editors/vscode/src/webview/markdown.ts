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

/** Characters of one code block that are coloured; a longer one is shown plain. */
const HIGHLIGHT_LIMIT = 50_000;

const renderer = new MarkdownIt({ html: false, linkify: false, breaks: false, highlight });
// A picture from elsewhere would tell its host who reads this: its words are shown instead.
renderer.renderer.rules["image"] = (tokens, index) => renderer.utils.escapeHtml(tokens[index]?.content ?? "");

const purify = createDOMPurify(window);
const ALLOWED = {
  ALLOWED_TAGS: [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
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
  ALLOWED_ATTR: ["class", "href", "start", "tabindex", "title"],
  ALLOW_DATA_ATTR: false,
};

export function toHtml(text: string): string {
  return purify.sanitize(renderer.render(text), ALLOWED);
}

/** A block of code, which scrolls sideways and so must be reached by keys. */
function highlight(code: string, info: string): string {
  const language = info.trim().split(/\s/)[0] ?? "";
  const coloured = code.length <= HIGHLIGHT_LIMIT && hljs.getLanguage(language) !== undefined;
  const html = coloured
    ? hljs.highlight(code, { language, ignoreIllegals: true }).value
    : renderer.utils.escapeHtml(code);
  return `<pre tabindex="0"><code>${html}</code></pre>`;
}
