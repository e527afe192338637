// Writes src/protocol/messages.ts from protocol/schema.json: `node scripts/protocol.mjs`. With `--check` it only says
// whether the file is up to date (exit 1 when not); a test does the same through `render`.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SCHEMA = fileURLToPath(new URL("../../../protocol/schema.json", import.meta.url));
const TARGET = fileURLToPath(new URL("../src/protocol/messages.ts", import.meta.url));

/** The whole file, from the text of the schema. */
export function render(schemaText) {
  const schema = JSON.parse(schemaText);
  const hash = createHash("sha256").update(schemaText).digest("hex").slice(0, 16);
  const named = { ...schema.$defs };
  const body = [
    ...Object.entries(named).map(([name, shape]) => declaration(name, shape)),
    table("ClientRequests", schema.methods, "client", "request"),
    table("ClientNotifications", schema.methods, "client", "notification"),
    table("ServerRequests", schema.methods, "server", "request"),
    table("ServerNotifications", schema.methods, "server", "notification"),
  ].join("\n\n");
  const foreign = [...new Set([...schemaText.matchAll(/"acpType": "(\w+)"/g)].map((match) => match[1]))].sort();
  return `// Generated from protocol/schema.json by scripts/protocol.mjs: do not edit, run \`npm run protocol\`.

import type {
${foreign.map((name) => `  ${name},`).join("\n")}
} from "./acp";

export const PROTOCOL_VERSION = ${schema.version};
export const SCHEMA_HASH = "${hash}";

${body}
`;
}

function declaration(name, shape) {
  const doc = comment(shape.description, "");
  if (shape.type !== "object") {
    return `${doc}export type ${name} = ${type(shape)};`;
  }
  const required = new Set(shape.required ?? []);
  const fields = Object.entries(shape.properties ?? {}).map(([field, value]) => {
    const mark = required.has(field) ? "" : "?";
    return `${comment(value.description, "  ")}  readonly ${key(field)}${mark}: ${type(value)};`;
  });
  return `${doc}export interface ${name} {\n${fields.join("\n")}\n}`;
}

function type(shape) {
  if (shape.$ref) return shape.$ref.split("/").at(-1);
  if (shape.acpType) return shape.acpType;
  if ("const" in shape) return JSON.stringify(shape.const);
  if (shape.enum) return shape.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (shape.anyOf) return shape.anyOf.map(type).join(" | ");
  switch (shape.type) {
    case "array":
      return `readonly ${wrapped(type(shape.items))}[]`;
    case "object":
      return `{ readonly [key: string]: ${type(shape.additionalProperties ?? {})} }`;
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return shape.type;
    default:
      return "unknown";
  }
}

function wrapped(name) {
  return /[ |]/.test(name) ? `(${name})` : name;
}

function table(name, methods, sender, kind) {
  const rows = Object.entries(methods)
    .filter(([, method]) => method.sender === sender && method.kind === kind)
    .map(([method, { params, result }]) => {
      const answer = result ? `; readonly result: ${type(result)}` : "";
      return `  readonly ${JSON.stringify(method)}: { readonly params: ${type(params)}${answer} };`;
    });
  return `/** What the ${sender} sends: ${kind}s. */\nexport interface ${name} {\n${rows.join("\n")}\n}`;
}

function key(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function comment(text, indent) {
  return text ? `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n` : "";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = render(readFileSync(SCHEMA, "utf8"));
  if (!process.argv.includes("--check")) {
    writeFileSync(TARGET, wanted);
  } else if (readFileSync(TARGET, "utf8") !== wanted) {
    console.error("src/protocol/messages.ts does not fit protocol/schema.json: run `npm run protocol`");
    process.exitCode = 1;
  }
}
