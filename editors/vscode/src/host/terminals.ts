/** What terminals said last, as far as their shells tell: VS Code gives the output of a command only while it comes. */

import * as vscode from "vscode";
import { clean, type Heard, hear } from "../chat/terminal";

/** Shell integration, stable since VS Code 1.93; absent before. */
interface Execution {
  readonly commandLine: { readonly value: string };
  read(): AsyncIterable<string>;
}
interface Executed {
  readonly terminal: vscode.Terminal;
  readonly execution: Execution;
  readonly exitCode?: number | undefined;
}
interface ShellWindow {
  readonly onDidStartTerminalShellExecution?: vscode.Event<Executed>;
  readonly onDidEndTerminalShellExecution?: vscode.Event<Executed>;
}

/** Milliseconds that a command which has said nothing yet is waited for: VS Code tells of its output a little later. */
const PATIENCE_MS = 1_000;

export class Terminals implements vscode.Disposable {
  private readonly last = new Map<vscode.Terminal, Heard>();
  private readonly all = new WeakMap<Execution, Heard>();
  private readonly heard = new vscode.EventEmitter<vscode.Terminal>();
  private readonly watched: vscode.Disposable[];

  constructor() {
    const window = vscode.window as typeof vscode.window & ShellWindow;
    this.watched = [
      window.onDidStartTerminalShellExecution?.(({ terminal, execution }) => void this.follow(terminal, execution)),
      window.onDidEndTerminalShellExecution?.((ended) => this.ended(ended)),
      vscode.window.onDidCloseTerminal((terminal) => this.last.delete(terminal)),
    ].filter((one) => one !== undefined);
  }

  /** The last command of the terminal in front, else of any, with what it said; undefined: nobody knows of one. */
  async said(): Promise<string | undefined> {
    const active = vscode.window.activeTerminal;
    const terminal = active !== undefined && this.last.has(active) ? active : [...this.last.keys()].at(-1);
    if (terminal === undefined) return undefined;
    const before = this.last.get(terminal);
    if (before?.output === "" && before.exitCode === null) await this.speaks(terminal);
    const heard = this.last.get(terminal);
    return heard && clean(heard);
  }

  /** Until it has said something or has ended, or has been silent for long enough. */
  private speaks(terminal: vscode.Terminal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        heard.dispose();
        resolve();
      };
      const timer = setTimeout(done, PATIENCE_MS);
      const heard = this.heard.event((one) => {
        if (one === terminal) done();
      });
    });
  }

  private async follow(terminal: vscode.Terminal, execution: Execution): Promise<void> {
    this.keep(terminal, execution, { command: execution.commandLine.value, output: "", exitCode: null });
    for await (const text of execution.read()) this.change(terminal, execution, (heard) => hear(heard, text));
    this.heard.fire(terminal);
  }

  private ended({ terminal, execution, exitCode }: Executed): void {
    this.change(terminal, execution, (heard) => ({ ...heard, exitCode: exitCode ?? null }));
  }

  private change(terminal: vscode.Terminal, execution: Execution, how: (heard: Heard) => Heard): void {
    const heard = this.all.get(execution);
    if (heard === undefined) return;
    this.keep(terminal, execution, how(heard));
    this.heard.fire(terminal);
  }

  private keep(terminal: vscode.Terminal, execution: Execution, heard: Heard): void {
    this.all.set(execution, heard);
    this.last.delete(terminal); // the latest stands last
    this.last.set(terminal, heard);
  }

  dispose(): void {
    for (const one of this.watched) one.dispose();
    this.heard.dispose();
  }
}
