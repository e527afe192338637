/** Where the server is: the setting, then PATH, then what the extension installed itself. Pure but for `exists`. */

import * as path from "node:path";

export interface Search {
  /** `agent.server.command`; empty: not set. */
  readonly setting: string;
  readonly pathVariable: string;
  readonly home: string;
  readonly windows: boolean;
  /** The program that `install` makes. */
  readonly installed: string;
  readonly exists: (file: string) => boolean;
}

export type Found =
  | { readonly kind: "found"; readonly command: string; readonly from: "setting" | "path" | "installed" }
  | { readonly kind: "missing"; readonly message: string };

export function findServer(search: Search): Found {
  if (search.setting !== "") return fromSetting(search);
  const onPath = which("agent-server", search);
  if (onPath !== undefined) return { kind: "found", command: onPath, from: "path" };
  if (search.exists(search.installed)) {
    return { kind: "found", command: search.installed, from: "installed" };
  }
  return { kind: "missing", message: "agent-server is not on PATH, and not installed for VS Code." };
}

/** A setting that leads nowhere is said, not passed over. */
function fromSetting(search: Search): Found {
  const wanted = search.setting.replace(/^~(?=[/\\]|$)/, search.home);
  const isPath = /[/\\]/.test(wanted);
  const command = isPath ? (search.exists(wanted) ? wanted : undefined) : which(wanted, search);
  return command === undefined
    ? { kind: "missing", message: `agent.server.command names ${search.setting}, which does not exist.` }
    : { kind: "found", command, from: "setting" };
}

function which(name: string, search: Search): string | undefined {
  const names = search.windows ? [`${name}.exe`, `${name}.cmd`, name] : [name];
  const join = search.windows ? path.win32.join : path.posix.join;
  return search.pathVariable
    .split(search.windows ? ";" : ":")
    .filter((folder) => folder !== "")
    .flatMap((folder) => names.map((file) => join(folder, file)))
    .find(search.exists);
}
