import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
// @ts-expect-error: a script without types
import { packaged } from "../scripts/readme.mjs";

const README = readFileSync(fileURLToPath(new URL("../README.md", import.meta.url)), "utf8");

test("the package's README has no picture and no link that is not in it", () => {
  expect(packaged(README)).not.toMatch(/!\[|\.\.\/|## Develop/);
});

test("published beside its pictures it shows them", () => {
  expect(packaged(README, "https://example.org/images")).toMatch(
    /!\[[^\]]+\]\(https:\/\/example\.org\/images\/[\w.-]+\)/,
  );
});

test("a link to what is not in the package stops the packaging", () => {
  expect(() => packaged("See [how](docs/how.md).\n\n## Develop\n")).toThrow("docs/how.md");
});
