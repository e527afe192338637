/** What a screen reader is told of a conversation that goes on: what needs the person, and what came of it. Pure. */

import { printableLine } from "./printable";
import type { ChatState } from "./state";

/** Characters of an answer that are read out by themselves; all of it is in the transcript. */
const READ_OUT = 400;

/** One sentence; it changes when there is something new to say, and not with every piece that streams. */
export function announcement(chat: ChatState): string {
  const question = chat.items.findLast((item) => item.kind === "question" || item.kind === "ask");
  if (question !== undefined && question.answer === null) {
    return `The agent asks: ${printableLine(question.kind === "ask" ? question.question : question.title)}`;
  }
  if (chat.status.busy) return "The agent works";
  const end = chat.items.at(-1);
  if (end?.kind !== "end") return "";
  if (end.why !== null) return end.why;
  const answer = chat.items.findLast((item) => item.kind === "message")?.text.trim() ?? "";
  return answer.length <= READ_OUT ? answer || "Done" : `${answer.slice(0, READ_OUT)} …`;
}
