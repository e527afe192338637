/** The sessions that the server keeps of this workspace. */

import type * as vscode from "vscode";
import type { SessionInfo } from "../protocol/acp";
import type { AgentClient } from "./client";
import { folders } from "./places";

/** Pages that are listed, of each folder. */
const PAGES = 5;

export interface Stored {
  readonly session: SessionInfo;
  /** Where it works. */
  readonly folder: vscode.Uri;
}

/** Those of all folders, the latest first. */
export async function storedSessions(client: AgentClient): Promise<readonly Stored[]> {
  const found: Stored[] = [];
  for (const { uri } of folders()) {
    let cursor: string | undefined;
    for (let page = 0; page < PAGES; page += 1) {
      const more = cursor === undefined ? {} : { cursor };
      const { sessions, nextCursor } = await client.ask("agent/session/list", { cwd: uri.fsPath, ...more });
      found.push(...sessions.map((session) => ({ session, folder: uri })));
      if (nextCursor == null) break;
      cursor = nextCursor;
    }
  }
  return found.sort((a, b) => (b.session.updatedAt ?? "").localeCompare(a.session.updatedAt ?? ""));
}
