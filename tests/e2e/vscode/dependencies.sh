#!/usr/bin/env bash
# dependencies.sh: the extension's node_modules, as its lock says; kept while the lock is the same.
set -euo pipefail
cd "$(dirname "$0")/../../../editors/vscode"
exec 9>node_modules.lock
flock 9 # two workers of pytest may come at once
stamp=node_modules/.stamp
[ ! -e $stamp ] || [ package-lock.json -nt $stamp ] || exit 0
# Not `npm ci`: it refuses a lock whose optional binaries are for other systems. The hashes are checked all the same.
npm install --no-save --ignore-scripts --no-progress --loglevel=error
touch $stamp
