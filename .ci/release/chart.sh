#!/usr/bin/env bash
# Packages the chart into FOLDER, as `helm package` does, with equal bytes for equal contents: chart.sh FOLDER
set -euo pipefail

mkdir -p "${1:?usage: chart.sh FOLDER}"
folder=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$(.ci/release/version.sh)
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$(.ci/release/epoch.sh)" \
  --directory deploy/helm endpoint-controller-manager |
  gzip --no-name --best >"$folder/endpoint-controller-manager-$version.tgz"
