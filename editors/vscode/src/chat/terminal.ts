/** The output of a command in a terminal, as text for a prompt. Pure. */

/** Characters of an output that are kept: its end, where errors are. */
const KEPT = 30_000;
const ESCAPE = String.fromCharCode(27);
const BELL = String.fromCharCode(7);
/** Control sequences (ECMA-48: OSC, CSI, escapes of two characters) and characters, which say how, not what. */
const CONTROL = new RegExp(
  [
    `${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)`,
    `${ESCAPE}\\[[0-?]*[ -/]*[@-~]`,
    `${ESCAPE}[@-Z\\\\^_=>]`,
    "(?![\\t\\n\\r])\\p{Cc}",
  ].join("|"),
  "gu",
);

export interface Heard {
  readonly command: string;
  /** As it came. */
  readonly output: string;
  /** Null while it runs, and when the shell did not say. */
  readonly exitCode: number | null;
}

export function hear(heard: Heard, text: string): Heard {
  return { ...heard, output: (heard.output + text).slice(-2 * KEPT) };
}

/** The command, what it said in plain words, and how it ended. */
export function clean({ command, output, exitCode }: Heard): string {
  const plain = output
    .replace(CONTROL, "")
    .split(/\r?\n/)
    // A line that was written over counts as it was last.
    .map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1).replace(/\r+$/, ""))
    .join("\n")
    .trimEnd();
  const seen = plain === "" ? "(no output was seen)" : plain;
  const cut = seen.length <= KEPT ? seen : `…${seen.slice(-KEPT)}`;
  const end = exitCode === null ? "" : `\n(exit code ${exitCode})`;
  return `$ ${command}\n${cut}${end}`;
}
