#!/usr/bin/env bash
# Checks that the libraries compile with the Kubernetes versions of k8s-openapi: with the oldest, which lacks most fields, or
# with `all`. Libraries choose none, so that their users can; the version that tests use is in .cargo/config.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Checked alone: with all features, the simulation contains the controller manager, which chooses a version.
simulation=kube-simulation
# All packages whose manifest chooses no version outside of dev-dependencies, and that are published.
libraries=()
for manifest in crates/*/Cargo.toml testing/*/Cargo.toml tools/*/Cargo.toml; do
  name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)
  if grep -q '^publish = false' "$manifest" || [ "$name" = "$simulation" ] ||
    sed '/^\[dev-dependencies\]/,/^\[/d' "$manifest" | grep -q 'features = \["v1_'; then
    continue
  fi
  libraries+=(-p "$name")
done

# Its features are the only ones with such names.
mapfile -t versions < <(cargo metadata --format-version 1 --locked | tr ',' '\n' | sed -n 's/.*"v1_\([0-9]*\)":\[\].*/1.\1/p' | sort -uV)
if [ "${1:-}" != all ]; then
  versions=("${versions[0]}")
fi
# Another folder, so that a change of the version does not rebuild what tests use. It begins as a copy: other dependencies
# are not checked again.
target=${CARGO_TARGET_DIR:-target}
export CARGO_TARGET_DIR=$target/kubernetes-versions
if [ -d "$target/debug" ] && [ ! -d "$CARGO_TARGET_DIR" ]; then
  mkdir -p "$CARGO_TARGET_DIR"
  cp -a --reflink=auto "$target/debug" "$CARGO_TARGET_DIR"
fi
for version in "${versions[@]}"; do
  printf 'Kubernetes %s\n' "$version"
  export K8S_OPENAPI_ENABLED_VERSION=$version
  cargo check --quiet --lib "${libraries[@]}" --all-features --locked
  cargo check --quiet --lib -p "$simulation" --no-default-features --locked
done
