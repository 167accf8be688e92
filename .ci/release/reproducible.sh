#!/usr/bin/env bash
# Builds the artifacts of the current commit twice, in two folders, and compares them byte for byte: reproducible.sh [TARGET]
#
# The default is the host's target. Takes two builds with the profile `dist`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target=${1:-$(rustc --print host-tuple)}
SOURCE_DATE_EPOCH=$(.ci/release/epoch.sh)
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for checkout in first another/and-longer; do
  mkdir -p "$work/$checkout"
  git archive HEAD | tar --extract --directory "$work/$checkout"
  # Target folders of their own: nothing of the first build is used by the second.
  env -u CARGO_TARGET_DIR "$work/$checkout/.ci/release/artifacts.sh" "$target" "$work/$checkout-artifacts"
  env -u CARGO_TARGET_DIR "$work/$checkout/.ci/release/chart.sh" "$work/$checkout-artifacts"
  rm -rf "${work:?}/$checkout"
done
(cd "$work/first-artifacts" && sha256sum -- *)
diff --recursive "$work/first-artifacts" "$work/another/and-longer-artifacts"
echo "two builds are equal byte for byte"
