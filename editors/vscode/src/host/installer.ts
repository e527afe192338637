/** Installs the wheel that the extension carries into its own storage: from that file, by the hashes of its lock. */

import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import * as path from "node:path";
import { promisify } from "node:util";
import type * as vscode from "vscode";
import { settings } from "./settings";

const run = promisify(execFile);
/** Dependencies come over the network, once. */
const INSTALL_MS = 600_000;

export class Installer {
  private readonly folder: string;
  private readonly carried: string;

  constructor(context: vscode.ExtensionContext) {
    this.folder = path.join(context.globalStorageUri.fsPath, `server-${context.extension.packageJSON.version}`);
    this.carried = path.join(context.extensionPath, "server");
  }

  /** What `install` makes. */
  get program(): string {
    return path.join(
      this.folder,
      ...(process.platform === "win32" ? ["Scripts", "agent-server.exe"] : ["bin", "agent-server"]),
    );
  }

  /** Whether this build of the extension carries the wheel. */
  get bundled(): boolean {
    return this.wheel !== undefined;
  }

  async install(progress: (step: string) => void): Promise<void> {
    const wheel = this.wheel;
    if (wheel === undefined) {
      throw new Error(
        "This build of the extension carries no server. Put agent-server on PATH, or set agent.server.command.",
      );
    }
    progress("Looking for Python 3.11 or newer");
    const python = await findPython();
    try {
      progress("Making an environment");
      await run(python, ["-m", "venv", "--clear", this.folder]);
      progress("Installing the dependencies, checked by their hashes");
      await this.pip("--require-hashes", "--requirement", path.join(this.carried, "requirements.lock"));
      progress("Installing the server");
      await this.pip("--no-deps", "--no-index", wheel);
    } catch (error) {
      await rm(this.folder, { recursive: true, force: true });
      throw error;
    }
  }

  private async pip(...args: string[]): Promise<void> {
    const python = path.join(path.dirname(this.program), process.platform === "win32" ? "python.exe" : "python");
    await run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...args], {
      timeout: INSTALL_MS,
    });
  }

  private get wheel(): string | undefined {
    const name = existsSync(this.carried) ? readdirSync(this.carried).find((file) => file.endsWith(".whl")) : undefined;
    return name === undefined ? undefined : path.join(this.carried, name);
  }
}

async function findPython(): Promise<string> {
  const named = settings().python;
  const candidates = named === "" ? ["python3", "python", "python3.13", "python3.12", "python3.11"] : [named];
  for (const candidate of candidates) {
    const newEnough = await run(candidate, ["-c", "import sys, venv; sys.exit(sys.version_info < (3, 11))"]).then(
      () => true,
      () => false,
    );
    if (newEnough) return candidate;
  }
  throw new Error(
    `Python 3.11 or newer with venv was not found (looked for ${candidates.join(", ")}). Install it, or set agent.server.python.`,
  );
}
