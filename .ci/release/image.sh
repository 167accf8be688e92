#!/usr/bin/env bash
# Pushes the image of a release for all platforms, and prints its digest: image.sh FOLDER IMAGE:TAG
#
# FOLDER has the files rootfs-TARGET.tar of artifacts.sh. Equal files give an equal digest. Needs docker buildx, and a login.
set -euo pipefail

folder=$(cd "${1:?usage: image.sh FOLDER IMAGE:TAG}" && pwd)
image=${2:?usage: image.sh FOLDER IMAGE:TAG}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
SOURCE_DATE_EPOCH=$(.ci/release/epoch.sh)
export SOURCE_DATE_EPOCH

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
for platform in amd64:x86_64 arm64:aarch64; do
  mkdir "$context/${platform%%:*}"
  tar --extract --directory "$context/${platform%%:*}" --file "$folder/rootfs-${platform##*:}-unknown-linux-musl.tar"
done
docker buildx build --platform linux/amd64,linux/arm64 --file deploy/image/Dockerfile --provenance=false --sbom=false \
  --annotation "index:org.opencontainers.image.source=https://github.com/kube-endpoints/kube-endpoints" \
  --annotation "index:org.opencontainers.image.licenses=Apache-2.0" \
  --output "type=image,name=$image,push=true,rewrite-timestamp=true" --metadata-file "$context/metadata.json" "$context" >&2
python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["containerimage.digest"])' "$context/metadata.json"
