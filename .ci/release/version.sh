#!/usr/bin/env bash
# Prints the version of the workspace: version.sh [TAG]
#
# Fails unless the crates, the chart and the manifests have the same version, and workflows and image the same compiler. With a tag, it
# must be that version too, and the changelog must have entries for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=$(sed -n '/^\[workspace\.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
failed=false
expect() {
  if [ "$2" != "$3" ]; then
    echo "$1 is \"$3\", expected \"$2\"" >&2
    failed=true
  fi
}
while read -r crate; do
  expect "the version of $crate in [workspace.dependencies]" "$version" "${crate##*version = \"}"
done < <(sed -n 's/^\([a-z-]* = { version = "[^"]*\)", path = .*/\1/p' Cargo.toml)
chart=deploy/helm/endpoint-controller-manager/Chart.yaml
expect "version in $chart" "$version" "$(sed -n 's/^version: //p' "$chart")"
expect "appVersion in $chart" "v$version" "$(sed -n 's/^appVersion: //p' "$chart")"
while IFS=: read -r file tag; do
  expect "the tag of the image in $file" "v$version" "$tag"
done < <(grep -ro 'ghcr.io/kube-endpoints/endpoint-controller-manager:.*' deploy/kustomize deploy/static-pod | sed 's/:ghcr.io[^:]*//')
# The compiler is an input of the binaries: one for all workflows and the image.
rust=$(sed -n 's/^  RUSTUP_TOOLCHAIN: //p' .github/workflows/release.yml)
while IFS=: read -r file found; do
  expect "RUSTUP_TOOLCHAIN in $file" "$rust" "${found##*: }"
done < <(grep -o '^  RUSTUP_TOOLCHAIN: .*' .github/workflows/*.yml)
expect "the image of Rust in deploy/Dockerfile" "${rust%.*}-alpine" "$(sed -n 's/^FROM rust:\(.*\)@.*/\1/p' deploy/Dockerfile)"
if [ $# -gt 0 ]; then
  expect "the tag" "v$version" "$1"
  .ci/release/notes.sh "$version" >/dev/null || failed=true
fi
if "$failed"; then
  exit 1
fi
echo "$version"
