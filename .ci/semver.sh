#!/usr/bin/env bash
# Compares the public APIs of the library crates with the last release: a breaking change needs a new minor version before 1.0, and a new
# major version after. Needs cargo-semver-checks and the tags of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! last=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); then
  echo "SKIPPED: no release to compare with"
  exit 0
fi
cargo semver-checks --workspace --baseline-rev "$last"
