import { describe, expect, test } from "vitest";
import { FORGET_MS, LIMIT, restartDelay } from "../src/server/backoff";
import { findServer, type Search } from "../src/server/find";

function find(changes: Partial<Search>, files: readonly string[]) {
  return findServer({
    setting: "",
    pathVariable: "/usr/bin:/opt/bin",
    home: "/home/me",
    windows: false,
    installed: "/storage/bin/agent-server",
    exists: (file) => files.includes(file),
    ...changes,
  });
}

describe("the server is found", () => {
  test("by the setting before all else", () => {
    expect(
      find({ setting: "~/venv/bin/agent-server" }, ["/home/me/venv/bin/agent-server", "/usr/bin/agent-server"]),
    ).toEqual({
      kind: "found",
      command: "/home/me/venv/bin/agent-server",
      from: "setting",
    });
  });

  test("by a name on PATH that the setting gives", () => {
    expect(find({ setting: "my-agent" }, ["/opt/bin/my-agent"])).toMatchObject({ command: "/opt/bin/my-agent" });
  });

  test("on PATH before the installed one, in PATH's order", () => {
    expect(find({}, ["/opt/bin/agent-server", "/storage/bin/agent-server"])).toMatchObject({ from: "path" });
    expect(find({}, ["/storage/bin/agent-server"])).toMatchObject({ from: "installed" });
  });

  test("on Windows with its endings", () => {
    expect(find({ windows: true, pathVariable: "C:\\a;C:\\b" }, ["C:\\b\\agent-server.exe"])).toMatchObject({
      command: "C:\\b\\agent-server.exe",
    });
  });

  test("never instead of a setting that leads nowhere", () => {
    expect(find({ setting: "/gone/agent-server" }, ["/usr/bin/agent-server"])).toEqual({
      kind: "missing",
      message: "agent.server.command names /gone/agent-server, which does not exist.",
    });
  });

  test("nowhere, and that is said", () => {
    expect(find({}, []).kind).toBe("missing");
  });
});

describe("a server that crashes", () => {
  test("is started again later each time, until a person has to look", () => {
    const now = 1_000_000;
    const delays = Array.from({ length: LIMIT }, (_, count) => restartDelay(Array(count + 1).fill(now), now));

    expect(delays).toEqual([500, 1_000, 2_000, 4_000, null]);
  });

  test("is forgiven what is long ago", () => {
    expect(restartDelay([0, 0, 0, 0, FORGET_MS + 1], FORGET_MS + 1)).toBe(500);
  });
});
