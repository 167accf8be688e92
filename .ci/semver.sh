#!/usr/bin/env bash
# Compares the public APIs of the published libraries with those of a revision: semver.sh [REVISION]
#
# The default is the last release. A breaking change needs a new minor version before 1.0, and a new major version after.
# Needs cargo-semver-checks, and the tags of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo semver-checks --version >/dev/null 2>&1; then
  echo "SKIPPED: cargo-semver-checks is not installed (.ci/tools.sh cargo-semver-checks)"
  exit 0
fi
if [ $# -gt 0 ]; then
  revision=$1
elif ! revision=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); then
  echo "SKIPPED: no release to compare with"
  exit 0
fi
printf 'Comparing with %s\n' "$revision"
# Packages that are not published have no users whose code a change breaks; cargo-semver-checks leaves them out.
cargo semver-checks --workspace --baseline-rev "$revision"
