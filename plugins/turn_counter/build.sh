#!/bin/sh
# Builds turn_counter.wasm, or the file that is named. ASC is the AssemblyScript compiler; without it npx gets it.
set -eu
cd "$(dirname "$0")/.."
${ASC:-npx --yes --package=assemblyscript@0.28.20 asc} turn_counter/turn_counter.ts \
  --outFile "${1:-turn_counter/turn_counter.wasm}" --use abort=assemblyscript/reyn/abort \
  -O3 --shrinkLevel 1 --runtime incremental
