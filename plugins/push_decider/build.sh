#!/bin/sh
# Builds push_decider.wasm, or the file that is named. ASC is the AssemblyScript compiler; without it npx gets it.
set -eu
cd "$(dirname "$0")/.."
${ASC:-npx --yes --package=assemblyscript@0.28.20 asc} push_decider/push_decider.ts \
  --outFile "${1:-push_decider/push_decider.wasm}" --use abort=assemblyscript/reyn/abort \
  -O3 --shrinkLevel 1 --runtime incremental
