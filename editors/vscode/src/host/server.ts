/** The server's process: found, started, watched, started again. Owns the client; others ask for it by `running`. */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import type { ServerState } from "../chat/bridge";
import type { ServerCapabilities } from "../protocol/messages";
import { PROTOCOL_VERSION } from "../protocol/messages";
import { restartDelay } from "../server/backoff";
import { findServer } from "../server/find";
import { AgentClient, sentence } from "./client";
import type { Installer } from "./installer";
import { folders, NO_FOLDER } from "./places";
import { settings } from "./settings";

/** Characters of standard error that are kept to say why it died. */
const TAIL = 4_000;
/** A server that has not said goodbye by then is left to its fate: its input is closed, which ends it. */
const STOP_MS = 2_000;

export class Server implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<ServerState>();
  readonly onDidChange = this.changed.event;
  private current: ServerState = { kind: "idle" };
  private client: AgentClient | undefined;
  private starting: Promise<AgentClient> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private crashes: number[] = [];
  private tail = "";

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly installer: Installer,
    /** Called before a client starts, so that it hears every message from the first on. */
    private readonly wire: (client: AgentClient) => void,
    /** Called when one has started. */
    private readonly started: (client: AgentClient) => Promise<void>,
  ) {}

  get state(): ServerState {
    return this.current;
  }

  /** The client while it serves. */
  get live(): AgentClient | undefined {
    return this.current.kind === "ready" ? this.client : undefined;
  }

  /** The client, started if need be; fails with a sentence that says what is in the way. */
  running(): Promise<AgentClient> {
    if (this.live !== undefined) return Promise.resolve(this.live);
    this.starting ??= this.start().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  /** Stop it and start it anew, with the settings as they are now. */
  async restart(): Promise<void> {
    this.crashes = [];
    await this.stop();
    await this.running();
  }

  async install(): Promise<void> {
    try {
      await this.installer.install((step) => this.become({ kind: "installing", step }));
    } catch (error) {
      this.become({ kind: "missing", message: sentence(error), canInstall: this.installer.bundled });
      throw error;
    }
    await this.restart();
  }

  async dispose(): Promise<void> {
    await this.stop();
    this.changed.dispose();
  }

  private async stop(): Promise<void> {
    clearTimeout(this.retry);
    const client = this.client;
    this.client = undefined;
    this.become({ kind: "idle" });
    if (client?.needsStop()) await client.dispose(STOP_MS).catch((error) => this.log.warn(sentence(error)));
  }

  private async start(): Promise<AgentClient> {
    clearTimeout(this.retry);
    if (folders().length === 0) {
      this.become({ kind: "noFolder" });
      throw new Error(NO_FOLDER);
    }
    const found = this.find();
    if (found.kind === "missing") {
      this.become({ kind: "missing", message: found.message, canInstall: this.installer.bundled });
      throw new Error(found.message);
    }
    this.log.info(`starting ${found.command} (found by ${found.from})`);
    return this.launch(found.command);
  }

  find() {
    return findServer({
      setting: settings().command,
      pathVariable: process.env["PATH"] ?? "",
      home: homedir(),
      windows: process.platform === "win32",
      installed: this.installer.program,
      exists: existsSync,
    });
  }

  private async launch(command: string): Promise<AgentClient> {
    this.become({ kind: "starting" });
    this.tail = "";
    const client = new AgentClient({
      command,
      args: ["lsp", "--log-level", settings().logLevel],
      options: serverOptions(),
      log: this.log,
      said: (text) => {
        this.tail = (this.tail + text).slice(-TAIL);
      },
      closed: () => this.lost(client),
    });
    this.client = client;
    this.wire(client);
    try {
      await client.start();
      const version = spokenBy(client);
      await this.started(client); // first: who is told that it is ready may prompt at once
      this.become({ kind: "ready", version });
    } catch (error) {
      this.fail(client, sentence(error));
      throw new Error(this.why(sentence(error)));
    }
    return client;
  }

  /** It ended by itself, perhaps while it was starting. */
  private lost(client: AgentClient): void {
    if (client !== this.client || this.current.kind === "starting") return;
    this.crashes.push(Date.now());
    const delay = restartDelay(this.crashes, Date.now());
    const message = this.why("The server stopped unexpectedly.");
    this.log.error(message);
    if (delay === null) {
      this.fail(client, `${message} It has stopped several times in a row.`);
      return;
    }
    this.client = undefined;
    this.become({ kind: "restarting", message, seconds: delay / 1000 });
    this.retry = setTimeout(() => {
      this.running().catch((error) => this.log.error(sentence(error)));
    }, delay);
  }

  private fail(client: AgentClient, message: string): void {
    if (client !== this.client) return;
    this.client = undefined;
    this.become({ kind: "failed", message: this.why(message) });
  }

  /** The sentence, and the last thing that the process said. */
  private why(message: string): string {
    const last = this.tail.trim().split("\n").at(-1) ?? "";
    return last === "" || message.includes(last) ? message : `${message}\n${last}`;
  }

  private become(state: ServerState): void {
    this.current = state;
    this.changed.fire(state);
  }
}

function serverOptions(): { readonly [key: string]: unknown } {
  const { model, mode, reviewWhen } = settings();
  return {
    workspaceTrusted: vscode.workspace.isTrusted,
    ...(model === "" ? {} : { model }),
    ...(mode === "" ? {} : { mode }),
    ...(reviewWhen === "" ? {} : { review: reviewWhen }),
  };
}

/** The version of a server that speaks our protocol. */
function spokenBy(client: AgentClient): string {
  const result = client.initializeResult;
  const declared: { readonly agent?: Partial<ServerCapabilities> } = result?.capabilities.experimental ?? {};
  const version = result?.serverInfo?.version ?? "unknown";
  if (declared.agent?.version !== PROTOCOL_VERSION) {
    throw new Error(
      `agent-server ${version} does not speak version ${PROTOCOL_VERSION} of the protocol: update it, or this extension.`,
    );
  }
  return version;
}
