#!/usr/bin/env bash
# Applies known defects to a copy of the tree, one at a time, and simulates until each is found: known-defects.sh [NAME...]
#
# NAME is that of a patch in testing/simulation/defects; the default is all of them. Fails if a defect that is expected to be
# found is not. With --check, only checks that every patch applies.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

defects=testing/simulation/defects
if [ "${1:-}" = --check ]; then
  for patch in "$defects"/*.patch; do
    git apply --check "$patch"
  done
  exit
fi

names=("$@")
if [ $# -eq 0 ]; then
  for patch in "$defects"/*.patch; do
    names+=("$(basename "$patch" .patch)")
  done
fi

mkdir -p "${CARGO_TARGET_DIR:-target}/known-defects"
folder=$(cd "${CARGO_TARGET_DIR:-target}/known-defects" && pwd)
copy=$folder/tree
rm -rf "$copy"
mkdir "$copy"
# One target directory for all defects, so that only the crates that a patch changes are rebuilt. It is not that of the
# repository: cargo would take the crates of the copy for those of the repository.
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0
# With new times, because the crates in the target directory may have the defect of the last run.
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from - |
  tar --extract --touch --directory "$copy"
# Otherwise git takes the copy for a part of this repository, and skips its files.
export GIT_CEILING_DIRECTORIES=$folder

missed=()
for name in "${names[@]}"; do
  git -C "$copy" apply "$defects/$name.patch"
  cargo run --quiet --manifest-path "$copy/Cargo.toml" --package kube-simulation --example known_defects --locked -- "$name" ||
    missed+=("$name")
  git -C "$copy" apply --reverse "$defects/$name.patch"
done
if [ ${#missed[@]} -gt 0 ]; then
  printf 'Not found: %s\n' "${missed[*]}" >&2
  exit 1
fi
