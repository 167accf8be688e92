#!/usr/bin/env bash
# Publishes the crates in the order of their dependencies: crates.sh [OPTION OF CARGO PUBLISH...]
#
# `crates.sh --dry-run` packages and builds all of them; add --no-verify to package only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cargo publish --workspace --locked "$@"
