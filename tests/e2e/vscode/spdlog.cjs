// Stands in for the logger of the VS Code server, which is native and would have to be compiled: the same calls, the same
// files. Without one the output channels stay empty, and a failure leaves nothing to read.
const { appendFileSync, mkdirSync } = require("node:fs");
const { dirname } = require("node:path");

const LEVELS = ["trace", "debug", "info", "warn", "error", "critical"];

class Logger {
  constructor(path) {
    mkdirSync(dirname(path), { recursive: true });
    this.path = path;
    this.level = LEVELS.indexOf("info");
    this.plain = false;
    for (const [rank, name] of LEVELS.entries()) this[name] = (text) => this.write(rank, name, text);
  }

  write(rank, name, text) {
    if (rank < this.level) return;
    appendFileSync(this.path, this.plain ? text : `${new Date().toISOString()} [${name}] ${text}\n`);
  }

  getLevel() {
    return this.level;
  }

  setLevel(level) {
    this.level = level;
  }

  clearFormatters() {
    this.plain = true;
  }

  setPattern() {}

  flush() {}

  drop() {}
}

exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = async (_name, path) => new Logger(path);
exports.createAsyncRotatingLogger = async (_name, path) => new Logger(path);
