/**
 * Characters that are not seen, or that turn the order of others, as signs that are seen. What a user reads before a yes
 * is then what is there. Pure.
 */

/** Control, format and separator characters, tags, and selectors that can carry hidden text. Tab and newline are none. */
const HIDDEN = /(?![\t\n])(?:[\p{Cc}\p{Cf}\u2028\u2029\u115f\u1160\u3164\uffa0]|[\u{e0100}-\u{e01ef}])/gu;
/** Joins what stands beside it: emoji, and letters of scripts that are written so. */
const JOINER = /[\u200c\u200d]/;
const JOINED =
  /(?:\ufe0f|[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}])$/u;

/** The text with each of them as a sign: `␛` for control characters, `⟨U+202E⟩` for the others. CRLF becomes a newline. */
export function printable(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  return lines.replaceAll(HIDDEN, (found, at: number) => (joins(lines, found, at) ? found : sign(found)));
}

/** The same on one line. */
export function printableLine(text: string): string {
  return printable(text).replaceAll(/\s*\n\s*/g, " ⏎ ");
}

function joins(text: string, found: string, at: number): boolean {
  return JOINER.test(found) && JOINED.test(text.slice(Math.max(0, at - 2), at));
}

function sign(found: string): string {
  const code = found.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
