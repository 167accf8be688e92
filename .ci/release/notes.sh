#!/usr/bin/env bash
# Prints the section of a version in the changelog, without its heading: notes.sh VERSION
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=${1:?usage: notes.sh VERSION}
# Headings are "## 0.1.0 - 2026-11-24" and "## Unreleased".
notes=$(awk -v version="$version" '
  /^## / { inside = ($2 == version); next }
  inside { print }
' CHANGELOG.md)
if [ -z "${notes//[[:space:]]/}" ]; then
  echo "notes.sh: CHANGELOG.md has no entries for $version" >&2
  exit 1
fi
# Without the empty lines at both ends.
sed -e '/./,$!d' <<<"$notes"
