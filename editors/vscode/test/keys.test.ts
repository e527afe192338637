import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const SYSTEMS = ["linux", "windows", "mac"] as const;
type System = (typeof SYSTEMS)[number];

interface Binding {
  readonly command: string;
  readonly key: string;
  readonly mac?: string;
  readonly when?: string;
}

const { contributes } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly contributes: { readonly keybindings: readonly Binding[] };
};

/** Where a key means something of VS Code's own and a file or a diff can have the keyboard; "always" where it does everywhere. */
function taken(system: System, wanted: string): readonly string[] {
  const lines = readFileSync(new URL(`keys/${system}.txt`, import.meta.url), "utf8").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"))
    .filter(([key = ""]) => canonical(key) === wanted)
    .flatMap(([, ...conditions]) =>
      conditions.length === 0 ? ["always"] : conditions.filter((one) => !isElsewhere(one)),
    );
}

/** Parts of VS Code where no file is. */
const ELSEWHERE = ["inChat", "inKeybindings", "accessibilityHelpIsShown"];

function isElsewhere(condition: string): boolean {
  return condition.split(" && ").some((one) => ELSEWHERE.includes(one));
}

/** Modifiers in one order, of the first of two strokes. */
function canonical(key: string): string {
  const parts = (key.split(" ")[0] ?? "").split("+");
  return [...parts.slice(0, -1).sort(), parts.at(-1)].join("+");
}

function keyOf({ key, mac }: Binding, system: System): string {
  return canonical(system === "mac" ? (mac ?? key) : key);
}

/** What text fields of macOS do by themselves (its StandardKeyBinding.dict), in every editor there. */
const TEXT_KEYS = ["a", "b", "d", "e", "f", "h", "k", "l", "n", "o", "p", "t", "v", "y"];

describe.each(SYSTEMS)("on %s", (system) => {
  test.each(contributes.keybindings)("$command shadows nothing of VS Code's own", (binding) => {
    expect(taken(system, keyOf(binding, system))).toEqual([]);
  });

  test.each(contributes.keybindings)("$command takes no letter and no cursor key", (binding) => {
    const parts = keyOf(binding, system).split("+");
    const letter = parts.at(-1) ?? "";
    const modifiers = parts
      .slice(0, -1)
      .filter((one) => one !== "shift")
      .join("+");

    if (system === "mac") {
      expect(modifiers).not.toBe("alt"); // types a character
      if (modifiers === "ctrl") expect(TEXT_KEYS).not.toContain(letter);
      if (modifiers === "alt+ctrl") expect(["b", "f"]).not.toContain(letter);
    } else {
      expect(modifiers).not.toBe("alt+ctrl"); // AltGr, which types a character on most keyboards
      if (modifiers === "alt" && !parts.includes("shift")) expect("fesvgrth").not.toContain(letter); // the menus
    }
  });
});
