#!/usr/bin/env bash
# Writes SHA256SUMS of all files in FOLDER, for `sha256sum --check`: checksums.sh FOLDER
set -euo pipefail
cd "${1:?usage: checksums.sh FOLDER}"
rm -f SHA256SUMS
sums=$(find . -maxdepth 1 -type f -printf '%f\0' | sort --zero-terminated | xargs --null sha256sum --)
echo "$sums" >SHA256SUMS
