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

export class Terminals implements vscode.Disposable {
  private readonly last = new Map<vscode.Terminal, Heard>();
  private readonly running = new Map<Execution, Heard>();
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
  said(): string | undefined {
    const active = vscode.window.activeTerminal;
    const heard = (active && this.last.get(active)) ?? [...this.last.values()].at(-1);
    return heard === undefined ? undefined : clean(heard);
  }

  private async follow(terminal: vscode.Terminal, execution: Execution): Promise<void> {
    let heard: Heard = { command: execution.commandLine.value, output: "", exitCode: null };
    const keep = () => {
      this.last.delete(terminal); // the latest stands last
      this.last.set(terminal, heard);
      this.running.set(execution, heard);
    };
    keep();
    for await (const text of execution.read()) {
      heard = hear(this.running.get(execution) ?? heard, text);
      keep();
    }
    this.running.delete(execution);
  }

  private ended({ terminal, execution, exitCode }: Executed): void {
    const heard = this.running.get(execution);
    if (heard === undefined) return;
    const ended = { ...heard, exitCode: exitCode ?? null };
    this.running.set(execution, ended);
    this.last.set(terminal, ended);
  }

  dispose(): void {
    for (const one of this.watched) one.dispose();
  }
}
