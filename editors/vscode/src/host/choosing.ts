/** Lists of VS Code's own in which a choice is a yes. Enter alone, on the row that is there first, decides nothing. */

import * as vscode from "vscode";

interface Options extends vscode.QuickPickOptions {
  /** What the first row says. */
  readonly nothing: string;
}

/** What the user picked on purpose; undefined: nothing. */
export async function choose<Item extends vscode.QuickPickItem>(
  items: readonly Item[],
  { nothing, ...options }: Options,
): Promise<Item | undefined> {
  const first: vscode.QuickPickItem = { label: `$(close) ${nothing}` };
  const chosen = await vscode.window.showQuickPick([first, ...items], options);
  return chosen === first ? undefined : (chosen as Item | undefined);
}
