#!/usr/bin/env bash
# build.sh TARGET: the extension as VS Code finds it installed, in the folder TARGET.
set -euo pipefail
target=$1
here=$(cd "$(dirname "$0")" && pwd)
"$here/dependencies.sh"
cd "$here/../../../editors/vscode"
exec 9>node_modules.lock
flock 9
node esbuild.mjs --production
mkdir -p "$target"
cp -r package.json dist media "$target/"
