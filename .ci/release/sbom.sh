#!/usr/bin/env bash
# Prints the bill of materials (CycloneDX 1.5, JSON) of a program for a target: sbom.sh PROGRAM TARGET
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

program=${1:?usage: sbom.sh PROGRAM TARGET}
target=${2:?usage: sbom.sh PROGRAM TARGET}
case $program in
  controller-manager) crate=crates/controller-manager ;;
  kubectl-endpoints) crate=tools/kubectl-endpoints ;;
  *)
    echo "sbom.sh: no program $program" >&2
    exit 2
    ;;
esac
SOURCE_DATE_EPOCH=$(.ci/release/epoch.sh)
export SOURCE_DATE_EPOCH
# One file beside the manifest of each crate with a program. Without a terminal, warnings about licences are noise.
trap 'rm -f crates/*/*_bin.cdx.json tools/*/*_bin.cdx.json' EXIT
cargo cyclonedx --quiet --quiet --format json --spec-version 1.5 --describe binaries --target "$target" \
  --manifest-path "$crate/Cargo.toml"
# References contain the folder of the checkout.
sed "s|path+file://$PWD/|path+file:///src/|g" "$crate/${program}_bin.cdx.json"
