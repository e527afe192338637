/** The language client: our capabilities and messages, typed by the protocol's tables. */

import type * as vscode from "vscode";
import type {
  DynamicFeature,
  Executable,
  InitializeParams,
  LanguageClientOptions,
  StaticFeature,
} from "vscode-languageclient/node";
import { CloseAction, ErrorAction, LanguageClient } from "vscode-languageclient/node";
import type {
  ClientCapabilities,
  ClientNotifications,
  ClientRequests,
  ServerNotifications,
  ServerRequests,
} from "../protocol/messages";
import { PROTOCOL_VERSION } from "../protocol/messages";

const CAPABILITIES: ClientCapabilities = {
  version: PROTOCOL_VERSION,
  sessionUpdate: true,
  updatesPerSecond: 30,
  permission: true,
  ask: true,
  edit: { proposed: true, apply: true, files: true },
  editor: { save: true, diagnostics: true, selection: true, openFiles: true, openDiff: true, reload: true },
};

/**
 * What the server offers to editors without this extension, and the extension does itself: commands (registered by the
 * client they would take the names of ours), actions, lenses, the documents of a diff.
 */
const OURS: ReadonlySet<string> = new Set([
  "workspace/executeCommand",
  "textDocument/codeAction",
  "textDocument/codeLens",
  "workspace/textDocumentContent",
]);

export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: { readonly [key: string]: unknown };
  readonly log: vscode.LogOutputChannel;
  /** Text of its standard error. */
  readonly said: (text: string) => void;
  /** The process ended by itself. */
  readonly closed: () => void;
}

export class AgentClient extends LanguageClient {
  constructor(start: Start) {
    const run: Executable = { command: start.command, args: [...start.args] };
    super("agent", "Agent", run, clientOptions(start));
  }

  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    const method = "registrationType" in feature ? feature.registrationType.method : "";
    if (!OURS.has(method)) super.registerFeature(feature);
  }

  protected override fillInitializeParams(params: InitializeParams): void {
    super.fillInitializeParams(params);
    params.capabilities.experimental = { agent: CAPABILITIES };
  }

  ask<Method extends keyof ClientRequests & string>(
    method: Method,
    params: ClientRequests[Method]["params"],
    token?: vscode.CancellationToken,
  ): Promise<ClientRequests[Method]["result"]> {
    // A third argument that is undefined would be sent as a second parameter.
    return token === undefined ? this.sendRequest(method, params) : this.sendRequest(method, params, token);
  }

  /** Run one of the server's own commands. */
  command(command: string, argument: object): Promise<unknown> {
    return this.sendRequest("workspace/executeCommand", { command, arguments: [argument] });
  }

  tell<Method extends keyof ClientNotifications & string>(
    method: Method,
    params: ClientNotifications[Method]["params"],
  ): Promise<void> {
    return this.sendNotification(method, params);
  }

  heard<Method extends keyof ServerNotifications & string>(
    method: Method,
    handler: (params: ServerNotifications[Method]["params"]) => void,
  ): vscode.Disposable {
    return this.onNotification(method, handler);
  }

  asked<Method extends keyof ServerRequests & string>(
    method: Method,
    handler: (
      params: ServerRequests[Method]["params"],
      token: vscode.CancellationToken,
    ) => Promise<ServerRequests[Method]["result"]>,
  ): vscode.Disposable {
    const answer: (params: ServerRequests[Method]["params"], token: vscode.CancellationToken) => Promise<unknown> =
      handler;
    return this.onRequest<unknown, unknown>(
      method,
      answer as (params: unknown, token: vscode.CancellationToken) => Promise<unknown>,
    );
  }
}

function clientOptions(start: Start): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: "file" }],
    outputChannel: start.log,
    initializationOptions: Object.keys(start.options).length === 0 ? {} : { agent: start.options },
    initializationFailedHandler: () => false,
    stdioOptions: {
      stdout: () => undefined, // only read for transports other than stdio
      stderr: (input) => {
        input.setEncoding("utf8").on("data", (text: string) => {
          start.log.appendLine(text.trimEnd());
          start.said(text);
        });
      },
    },
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        start.closed();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
}

/** What went wrong, in the sentence of whoever said it. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
