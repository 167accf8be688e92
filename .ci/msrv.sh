#!/usr/bin/env bash
# Checks that all crates build with the oldest Rust that their manifests promise. Needs rustup.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! rustup --version >/dev/null 2>&1; then
  echo "SKIPPED: rustup is not installed, so Rust $version cannot be chosen"
  exit 0
fi
rustup toolchain install "$version" --profile minimal --no-self-update
# Another folder, so that the artifacts of the usual compiler stay.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/msrv"
cargo "+$version" check --workspace --all-features --locked --keep-going
