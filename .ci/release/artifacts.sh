#!/usr/bin/env bash
# Builds what a release has for one target, into FOLDER: artifacts.sh TARGET FOLDER
#
#   controller-manager-v0.1.0-TARGET.tar.gz      the program, LICENSE and NOTICE
#   controller-manager-v0.1.0-TARGET.cdx.json    its bill of materials (CycloneDX)
#   kubectl-endpoints-...                        the same for the plugin
#   rootfs-TARGET.tar                            the root file system of the image
set -euo pipefail

target=${1:?usage: artifacts.sh TARGET FOLDER}
mkdir -p "${2:?usage: artifacts.sh TARGET FOLDER}"
folder=$(cd "$2" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$(.ci/release/version.sh)
SOURCE_DATE_EPOCH=$(.ci/release/epoch.sh)
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive() { # FILE FOLDER: equal contents give equal bytes
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --directory "$2" --file "$1" .
}

.ci/release/build.sh "$target" "$work/binaries"
for program in controller-manager kubectl-endpoints; do
  name=$program-v$version-$target
  mkdir "$work/$program"
  install -m 0755 "$work/binaries/$program" "$work/$program/$program"
  install -m 0644 LICENSE NOTICE "$work/$program"
  archive "$work/$name.tar" "$work/$program"
  gzip --no-name --best <"$work/$name.tar" >"$folder/$name.tar.gz"
  .ci/release/sbom.sh "$program" "$target" >"$folder/$name.cdx.json"
done
deploy/image/rootfs.sh --static "$work/binaries/controller-manager" "$work/rootfs"
archive "$folder/rootfs-$target.tar" "$work/rootfs"
