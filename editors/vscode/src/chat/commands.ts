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

/** What `/` offers: what is done here, with lists and previews of VS Code's own, then what else the server offers. */
export function offeredCommands(chat: ChatState, query: string): readonly Completion[] {
  const ours = LOCAL.map(({ name, detail }) => ({ label: `/${name}`, detail, insert: `/${name}` }));
  const theirs = chat.commands
    .filter(({ name }) => !LOCAL.some((one) => one.name === name))
    .map(({ name, description, input }) => ({
      label: `/${name}`,
      detail: input == null ? description : `${description} (${input.hint})`,
      insert: `/${name}`,
    }));
  return [...ours, ...theirs].filter((one) => one.label.startsWith(`/${query.toLowerCase()}`));
}

/** The command of this extension that a prompt is, if it is one: with words behind it, it is for the server. */
export function localCommand(text: string): ViewCommand | undefined {
  const name = /^\/(\S+)$/.exec(text.trim())?.[1];
  return LOCAL.find((one) => one.name === name)?.command;
}
