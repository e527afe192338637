/** What a prompt mentions, as content blocks: read from the editor when the prompt is sent. */

import * as vscode from "vscode";
import type { Completion } from "../chat/bridge";
import { fuzzyFind } from "../chat/fuzzy";
import { type Mention, mentionOf } from "../chat/mentions";
import type { ContentBlock, EmbeddedResource } from "../protocol/acp";
import { lastEditor } from "./looking";
import { folders } from "./places";
import type { Terminals } from "./terminals";

const FOUND = 20;
/** Files that are looked through. */
const FILES = 20_000;
/** Milliseconds for which the list of files is good enough: while one mention is typed. */
const FRESH_MS = 5_000;
/** Diagnostics of one prompt; the agent can ask for more. */
const DIAGNOSTICS = 100;

export class Mentioned {
  private files: { readonly paths: Promise<readonly string[]>; readonly until: number } | undefined;

  constructor(private readonly terminals: Terminals) {}

  /** A mention that names nothing stays what it is, words; of the editor's own ones the person is told. */
  async resolve(all: readonly Mention[]): Promise<readonly ContentBlock[]> {
    const found = await Promise.all(all.map((mention) => this.block(mention)));
    return found.filter((block) => block !== undefined);
  }

  private async block(mention: Mention): Promise<ContentBlock | undefined> {
    switch (mention.kind) {
      case "selection":
        return selection() ?? missing("@selection: no text editor is open.");
      case "diagnostics":
        return diagnostics() ?? missing("@diagnostics: VS Code knows of no problems.");
      case "terminal":
        return (await this.terminal()) ?? missing(NO_TERMINAL);
      case "file":
        return file(mention.path);
    }
  }

  private async terminal(): Promise<EmbeddedResource | undefined> {
    const text = await this.terminals.said();
    return text === undefined ? undefined : { type: "resource", resource: { uri: "vscode:/terminal", text } };
  }

  /** What `@` offers: the editor's own words first, then files. */
  async complete(query: string): Promise<readonly Completion[]> {
    const words = OWN.filter((word) => word.label.startsWith(query.toLowerCase()));
    const paths = query === "" ? openPaths() : fuzzyFind(await this.paths(), query, FOUND);
    const found = paths.map((path) => ({ label: path, detail: "File", insert: mentionOf(path) }));
    return [...words, ...found].slice(0, FOUND);
  }

  /** Every file of the workspace that searching would find, as it is mentioned. */
  private paths(): Promise<readonly string[]> {
    if (this.files === undefined || this.files.until < Date.now()) {
      const listed = async () => (await vscode.workspace.findFiles("**/*", undefined, FILES)).map(pathOf);
      this.files = { paths: listed(), until: Date.now() + FRESH_MS };
    }
    return this.files.paths;
  }
}

const OWN: readonly Completion[] = [
  { label: "selection", detail: "The selected text", insert: "@selection" },
  { label: "diagnostics", detail: "Problems in the workspace", insert: "@diagnostics" },
  { label: "terminal", detail: "The last command and its output", insert: "@terminal" },
];

const NO_TERMINAL =
  "@terminal: no command that ran in a terminal is known. It takes VS Code 1.93 and a shell with shell integration.";

function missing(words: string): undefined {
  void vscode.window.showInformationMessage(`${words} The prompt was sent without it.`);
}

function selection(): EmbeddedResource | undefined {
  const editor = lastEditor();
  if (editor === undefined) return undefined;
  const { document, selection: range } = editor;
  const lines = `#L${range.start.line + 1}-L${range.end.line + 1}`;
  const text = range.isEmpty ? document.lineAt(range.start.line).text : document.getText(range);
  return { type: "resource", resource: { uri: `${document.uri.toString()}${lines}`, text } };
}

const SEVERITIES = ["error", "warning", "information", "hint"] as const;

function diagnostics(): EmbeddedResource | undefined {
  const lines = vscode.languages.getDiagnostics().flatMap(([uri, all]) =>
    all.map((one) => {
      const where = `${pathOf(uri)}:${one.range.start.line + 1}:${one.range.start.character + 1}`;
      return `${where}: ${SEVERITIES[one.severity]}: ${one.message}${one.source === undefined ? "" : ` (${one.source})`}`;
    }),
  );
  if (lines.length === 0) return undefined;
  return { type: "resource", resource: { uri: "vscode:/diagnostics", text: lines.slice(0, DIAGNOSTICS).join("\n") } };
}

/** How a file is called in prompts: by its path in its folder, and where there are several, with the folder's name. */
export function pathOf(uri: vscode.Uri): string {
  return vscode.workspace.asRelativePath(uri, folders().length > 1);
}

async function file(path: string): Promise<ContentBlock | undefined> {
  for (const uri of meant(path)) {
    const exists = await vscode.workspace.fs.stat(uri).then(
      () => true,
      () => false,
    );
    if (exists) return { type: "resource_link", uri: uri.toString(), name: path };
  }
  return undefined;
}

/** Where such a path may be: below the folder that it begins with, else below each of them. */
export function meant(path: string): readonly vscode.Uri[] {
  const [name, ...rest] = path.split("/");
  const named = folders().filter((folder) => folder.name === name && rest.length > 0);
  return [
    ...named.map((folder) => vscode.Uri.joinPath(folder.uri, ...rest)),
    ...folders().map((folder) => vscode.Uri.joinPath(folder.uri, path)),
  ];
}

function openPaths(): readonly string[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const uris = tabs.flatMap((tab) => (tab.input instanceof vscode.TabInputText ? [tab.input.uri] : []));
  return [...new Set(uris.filter((uri) => uri.scheme === "file").map(pathOf))];
}
