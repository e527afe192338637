/** Text of others in VS Code's own notifications. */

import { printable } from "../chat/printable";

/** Characters that a notification shows. */
const LIMIT = 1_000;

/**
 * A text that is only text there: on one line, hidden characters named, and no `[words](command:…)`, which VS Code makes
 * a link that runs a command.
 */
export function noticeText(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, " ").replaceAll("](", "] (").trim();
  return line.length <= LIMIT ? line : `${line.slice(0, LIMIT - 1)}…`;
}
