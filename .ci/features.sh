#!/usr/bin/env bash
# Checks each crate alone, with every combination of its features, without dev-dependencies. Needs cargo-hack.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# The program has at least one controller.
cargo hack check --workspace --feature-powerset \
  --exclude endpoint-controller-manager
cargo hack check --package endpoint-controller-manager --feature-powerset \
  --at-least-one-of endpoint,endpointslice,mirroring
