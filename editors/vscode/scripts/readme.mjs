// node scripts/readme.mjs [URL]: writes dist/README.md, the README as the package carries it. Pictures are beside the
// package, not in it: they stay if URL says where docs/images is published (https), else they go, and so does what only
// somebody with the whole repository can use.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../README.md", import.meta.url));
const TARGET = fileURLToPath(new URL("../dist/README.md", import.meta.url));
const PICTURE = /^!\[([^\]]*)\]\((?:\.\.\/)*docs\/images\/([^)]+)\)\n\n?/gm;

/** The README for a package whose pictures are at `url`; without one it has none. */
export function packaged(text, url) {
  const used = text.slice(0, text.search(/^## Develop$/m));
  const shown = used.replace(PICTURE, (_, words, name) => (url ? `![${words}](${url}/${name})\n\n` : ""));
  const inside = /\]\((?!https:|#)[^)]*\)/.exec(shown);
  if (inside !== null) throw new Error(`README.md links to what is not in the package: ${inside[0]}`);
  return `${shown.trim()}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(fileURLToPath(new URL("../dist", import.meta.url)), { recursive: true });
  writeFileSync(TARGET, packaged(readFileSync(SOURCE, "utf8"), process.argv[2]));
}
