#!/usr/bin/env bash
# Checks each crate alone, with every combination of its features, without dev-dependencies. Needs cargo-hack.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# The program has at least one controller; `defects` is for tests of the simulation.
cargo hack check --workspace --feature-powerset --exclude-features defects \
  --exclude endpoint-controller-manager
cargo hack check --package endpoint-controller-manager --feature-powerset --exclude-features defects \
  --at-least-one-of endpoint,endpointslice,mirroring
