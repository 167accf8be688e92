#!/bin/sh
# Installs tools of cargo at the versions that CI and releases use: tools.sh NAME...
set -eu

for name in "$@"; do
  case $name in
    cargo-auditable) version=0.7.7 ;;
    cargo-cyclonedx) version=0.5.9 ;;
    cargo-deny) version=0.20.2 ;;
    cargo-hack) version=0.6.46 ;;
    cargo-minimal-versions) version=0.1.38 ;;
    cargo-semver-checks) version=0.46.0 ;;
    mdbook) version=0.5.4 ;;
    *)
      echo "tools.sh: no version of $name is chosen" >&2
      exit 2
      ;;
  esac
  cargo install --locked --version "$version" "$name"
done
