#!/bin/sh
# Lays out the root file system of the image: rootfs.sh [--static] BINARY FOLDER
#
# Needs no container runtime. deploy/Dockerfile copies the result into the image, the release puts it into the image that it publishes,
# and a test starts the program in it as the kubelet would. A dynamically linked binary, such as a development build, gets the libraries
# that it is linked with; with --static, it is an error.
set -eu

static=false
if [ "${1-}" = --static ]; then
  static=true
  shift
fi
if [ $# -ne 2 ]; then
  echo "usage: rootfs.sh [--static] BINARY FOLDER" >&2
  exit 2
fi
binary=$1
root=$2
repository=$(cd "$(dirname "$0")/../.." && pwd)

if [ -e "$root" ] && [ -n "$(ls -A "$root")" ]; then
  echo "rootfs.sh: $root is not empty" >&2
  exit 1
fi
mkdir -p "$root"

# The contents of the image.
cp "$binary" "$root/controller-manager"
cp "$repository/LICENSE" "$repository/NOTICE" "$root"

if readelf -l "$binary" | grep -q 'program interpreter'; then
  if "$static"; then
    echo "rootfs.sh: $binary is not statically linked" >&2
    exit 1
  fi
  # Lines of ldd: "name => path (address)", and "path (address)" for the dynamic linker.
  ldd "$binary" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp "$library" "$root$library"
  done
fi

# Equal input gives an equal image: no time of the build, no umask.
find "$root" -type d -exec chmod 0755 {} +
find "$root" -type f -exec chmod 0555 {} +
chmod 0444 "$root/LICENSE" "$root/NOTICE"
find "$root" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-0}" {} +
