#!/bin/sh
# Builds spawn_gate.wasm, or the file that is named. Needs clang and lld.
set -eu
cd "$(dirname "$0")/.."
${CLANG:-clang} --target=wasm32-unknown-unknown -std=gnu11 -Oz -Wall -Wextra -Werror -Wno-unused-function \
  -nostdlib -ffreestanding -mbulk-memory -fno-ident \
  -Wl,--no-entry -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=65536 \
  -o "${1:-spawn_gate/spawn_gate.wasm}" spawn_gate/spawn_gate.c
