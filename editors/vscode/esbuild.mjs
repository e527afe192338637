// Bundles the extension and the page into dist/. `--watch` goes on doing so; `--production` without source maps.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { build, context } from "esbuild";

const production = process.argv.includes("--production");
const common = { bundle: true, sourcemap: production ? false : "linked", minify: production, logLevel: "warning" };
const bundles = [
  {
    ...common,
    entryPoints: { extension: "src/extension.ts" },
    outdir: "dist",
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["vscode"],
  },
  {
    ...common,
    entryPoints: { chat: "src/webview/main.tsx" },
    outdir: "dist",
    platform: "browser",
    target: "chrome124",
    format: "iife",
    tsconfig: "src/webview/tsconfig.json",
  },
];

rmSync("dist", { recursive: true, force: true });
mkdirSync("dist");
copyFileSync("styles/chat.css", "dist/chat.css");
for (const name of ["codicon.css", "codicon.ttf"]) {
  copyFileSync(`node_modules/@vscode/codicons/dist/${name}`, `dist/${name}`);
}
if (process.argv.includes("--watch")) {
  for (const bundle of bundles) await (await context(bundle)).watch();
} else {
  await Promise.all(bundles.map(build));
}
