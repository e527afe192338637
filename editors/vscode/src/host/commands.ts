/** Every command by name. Each is short: the work is done by the parts it names. */

import * as vscode from "vscode";
import type { ConfigOption } from "../protocol/acp";
import { askFor, diagnosticWords, subjectWords } from "./asking";
import { type ChatView, OF_CHAT } from "./chatView";
import { sentence } from "./client";
import type { Conversation } from "./conversation";
import type { Diffs } from "./diffs";
import { exportSession } from "./exporting";
import { gutterLineIn, hunkIn, partIn, subjectIn } from "./given";
import type { GoingBack } from "./goingBack";
import { noticeText } from "./notices";
import type { Permissions } from "./permissions";
import { type Doctor, showDemo } from "./programs";
import type { Reviewing } from "./reviewing";
import type { Server } from "./server";

export interface Parts {
  readonly server: Server;
  readonly conversation: Conversation;
  readonly chat: ChatView;
  readonly permissions: Permissions;
  readonly diffs: Diffs;
  readonly reviewing: Reviewing;
  readonly goingBack: GoingBack;
  readonly doctor: Doctor;
  readonly log: vscode.LogOutputChannel;
}

type Command = (...args: readonly unknown[]) => unknown;

export function registerCommands(parts: Parts): vscode.Disposable {
  const all = { ...talking(parts), ...choosing(parts), ...deciding(parts), ...returning(parts), ...serving(parts) };
  return vscode.Disposable.from(
    ...Object.entries(all).map(([name, run]) => vscode.commands.registerCommand(name, guarded(run))),
  );
}

/** A command that fails says why. */
function guarded(run: Command): Command {
  return async (...args) => {
    try {
      await run(...args);
    } catch (error) {
      void vscode.window.showErrorMessage(noticeText(sentence(error)));
    }
  };
}

function talking({ conversation, chat, permissions }: Parts): Record<string, Command> {
  const say = async (text: string) => {
    await chat.reveal();
    await conversation.prompt(text);
  };
  const ask = async (title: string, placeholder: string, prompt: (words: string) => string) => {
    const words = await askFor(title, placeholder);
    if (words !== undefined) await say(prompt(words));
  };
  return {
    "agent.open": () => chat.reveal(),
    "agent.ask": () => ask("Ask the agent", "What should it do?", (words) => words),
    "agent.askAboutSelection": () =>
      ask("Ask about the selection", "What do you want to know?", (words) => `${words}\n\n${subjectWords()}`),
    "agent.explain": () => say(`Explain ${subjectWords()}`),
    "agent.rewrite": () => ask("Rewrite", "How should it be?", (words) => `Rewrite ${subjectWords()}: ${words}`),
    "agent.writeTest": () => say(`Write tests for ${subjectWords()}`),
    "agent.fix": async (uri, problem) => {
      const words = diagnosticWords(uri as vscode.Uri | undefined, problem as vscode.Diagnostic | undefined);
      if (words === undefined) await vscode.window.showInformationMessage("No problem is reported in this file.");
      else await say(words);
    },
    "agent.cancel": () => conversation.cancel(),
    "agent.answer": () => permissions.showNext(),
  };
}

function choosing({ conversation, chat, server }: Parts): Record<string, Command> {
  return {
    "agent.newSession": async () => {
      if ((await conversation.begin()) !== undefined) await chat.reveal("");
    },
    "agent.forkSession": () => conversation.fork(),
    "agent.resumeSession": async () => {
      const sessions = await conversation.list();
      const items = sessions.map(({ sessionId, title, updatedAt }) => ({
        label: title ?? "Untitled",
        description: updatedAt == null ? "" : new Date(updatedAt).toLocaleString(),
        sessionId,
      }));
      const chosen = await vscode.window.showQuickPick(items, { title: "Resume a session", matchOnDescription: true });
      if (chosen === undefined) return;
      await conversation.load(chosen.sessionId);
      await chat.reveal();
    },
    "agent.renameSession": async () => {
      const sessionId = await conversation.open();
      const value = conversation.current?.title ?? "";
      const title = await vscode.window.showInputBox({ title: "Name the session", value });
      if (title !== undefined && title.trim() !== "") await conversation.rename(sessionId, title.trim());
    },
    "agent.exportSession": async (given) => {
      const sessionId = typeof given === "string" ? given : await conversation.open();
      const known = (await conversation.list()).find((one) => one.sessionId === sessionId);
      const found = server.find();
      if (found.kind === "missing") throw new Error(found.message);
      await exportSession(found.command, { sessionId, title: known?.title ?? null });
    },
    "agent.pickModel": () => pick(conversation, "model", "Choose a model"),
    "agent.pickMode": () => pick(conversation, "mode", "Choose a mode"),
  };
}

async function pick(conversation: Conversation, category: string, title: string): Promise<void> {
  await conversation.open();
  const option = conversation.current?.options.find((one: ConfigOption) => one.category === category);
  if (option === undefined) return;
  // What is chosen now stands first: Enter alone changes nothing.
  const isCurrent = ({ value }: { readonly value: string }) => value === option.currentValue;
  const choices = [...option.options.filter(isCurrent), ...option.options.filter((one) => !isCurrent(one))];
  const items = choices.map(({ name, value, description }) => ({
    label: name,
    description: value === option.currentValue ? "current" : "",
    detail: description ?? "",
    value,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title });
  if (chosen !== undefined) await conversation.setOption(option.id, chosen.value);
}

function deciding({ reviewing, diffs, server, conversation }: Parts): Record<string, Command> {
  // What the chat's bar counts is of the session that it shows.
  const sessionOf = (from: unknown) => (from === OF_CHAT ? conversation.current?.sessionId : undefined);
  const hunk = (argument: unknown) => hunkIn(argument) ?? gutterLineIn(argument);
  return {
    "agent.review": () => diffs.next(),
    "agent.showProposal": (argument) => {
      const subject = subjectIn(argument);
      return subject && diffs.show(subject);
    },
    "agent.showChanges": async () => (await server.running()).command("agent.showChanges", {}),
    "agent.acceptHunk": (argument) => reviewing.decideHunk("accept", hunk(argument)),
    "agent.rejectHunk": (argument) => reviewing.decideHunk("reject", hunk(argument)),
    "agent.acceptFile": (argument) => reviewing.decideFile("accept", subjectIn(argument)),
    "agent.rejectFile": (argument) => reviewing.decideFile("reject", subjectIn(argument)),
    "agent.rejectWithReason": (argument) => reviewing.rejectWith(subjectIn(argument)),
    "agent.acceptAll": (from) => reviewing.decideAll("accept", "once", sessionOf(from)),
    "agent.acceptFor": () => reviewing.acceptFor(),
    "agent.rejectAll": (from) => reviewing.decideAll("reject", "once", sessionOf(from)),
    "agent.nextHunk": () => reviewing.step(1),
    "agent.previousHunk": () => reviewing.step(-1),
  };
}

function returning({ conversation, goingBack }: Parts): Record<string, Command> {
  return {
    "agent.undo": () => conversation.undo(false),
    "agent.undoTurn": () => conversation.undo(true),
    "agent.revert": (argument) => goingBack.revert(partIn(argument)),
    "agent.restoreCheckpoint": () => goingBack.restore(),
  };
}

function serving({ server, conversation, doctor, log }: Parts): Record<string, Command> {
  return {
    "agent.showLog": () => log.show(),
    "agent.restart": async () => {
      await server.restart();
      await conversation.open();
    },
    "agent.install": async () => {
      await server.install();
      await conversation.open();
    },
    "agent.doctor": () => doctor.show(),
    "agent.tryDemo": () => showDemo(server),
    "agent.openSettings": () =>
      vscode.commands.executeCommand("workbench.action.openSettings", "@ext:agent-server.agent-server"),
    "agent.openFolder": () => vscode.commands.executeCommand("workbench.action.files.openFolder"),
  };
}
