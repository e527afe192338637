/** What a prompt may begin with: `/` and the name of something that is done here, or that the server offers. Pure. */

import type { Completion, ViewCommand } from "./bridge";
import type { ChatState } from "./state";

interface Local {
  readonly name: string;
  readonly detail: string;
  readonly command: ViewCommand;
}

const LOCAL: readonly Local[] = [
  { name: "new", detail: "Begin a new session", command: "agent.newSession" },
  { name: "clear", detail: "The same: this one is kept in the list", command: "agent.newSession" },
  { name: "model", detail: "Choose a model", command: "agent.pickModel" },
  { name: "mode", detail: "Choose a mode", command: "agent.pickMode" },
  { name: "resume", detail: "Go on with an earlier session", command: "agent.resumeSession" },
  { name: "fork", detail: "Go on in a copy of this session", command: "agent.forkSession" },
  { name: "rename", detail: "Name this session", command: "agent.renameSession" },
  { name: "export", detail: "Save this session as a document", command: "agent.exportSession" },
  { name: "undo", detail: "Take back the last edit", command: "agent.undo" },
  { name: "rewind", detail: "Go back to an earlier moment", command: "agent.restoreCheckpoint" },
];

/** The unfinished name when the text is nothing but that, without its `/`; undefined otherwise. */
export function unfinishedCommand(text: string, cursor: number): string | undefined {
  return /^\/(\S*)$/.exec(text.slice(0, cursor))?.[1];
}

/** What `/` offers: the server's own first, and what is done here under names that it does not take. */
export function offeredCommands(chat: ChatState, query: string): readonly Completion[] {
  const theirs = chat.commands.map(({ name, description, input }) => ({
    label: `/${name}`,
    detail: input?.hint === undefined ? description : `${description} (${input.hint})`,
    insert: `/${name}`,
  }));
  const taken = new Set(theirs.map((one) => one.label));
  const ours = LOCAL.map(({ name, detail }) => ({ label: `/${name}`, detail, insert: `/${name}` })).filter(
    (one) => !taken.has(one.label),
  );
  return [...theirs, ...ours].filter((one) => one.label.startsWith(`/${query.toLowerCase()}`));
}

/** The command of this extension that a prompt is, if it is one. */
export function localCommand(chat: ChatState, text: string): ViewCommand | undefined {
  const name = /^\/(\S+)$/.exec(text.trim())?.[1];
  if (name === undefined || chat.commands.some((one) => one.name === name)) return undefined;
  return LOCAL.find((one) => one.name === name)?.command;
}
