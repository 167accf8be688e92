#!/bin/sh
# Builds the programs of a release: build.sh TARGET FOLDER
#
# The binaries are linked statically, and contain the list of their dependencies (cargo auditable). Equal sources and an equal toolchain
# give equal binaries, in any folder: paths of this machine are replaced. reproducible.sh compares two builds.
set -eu

if [ $# -ne 2 ]; then
  echo "usage: build.sh TARGET FOLDER" >&2
  exit 2
fi
target=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
sources=$PWD
cargo_home=${CARGO_HOME:-$HOME/.cargo}

separator=$(printf '\037')
CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$sources=/src${separator}--remap-path-prefix=$cargo_home=/cargo"
CARGO_ENCODED_RUSTFLAGS="$CARGO_ENCODED_RUSTFLAGS${separator}-Ctarget-feature=+crt-static"
export CARGO_ENCODED_RUSTFLAGS
# For C code in dependencies such as ring, whose assertions name their file.
export CFLAGS="${CFLAGS-} -ffile-prefix-map=$sources=/src -ffile-prefix-map=$cargo_home=/cargo"
export CARGO_INCREMENTAL=0
# The cc crate finds the compiler of musl on x86-64 only. On Alpine, the compiler of the system is that of musl.
case $target in
  *-linux-musl)
    if command -v musl-gcc >/dev/null; then
      export "CC_$(echo "$target" | tr - _)=musl-gcc"
    fi
    ;;
esac

cargo auditable build --profile dist --locked --target "$target" -p endpoint-controller-manager -p kubectl-endpoints
for program in controller-manager kubectl-endpoints; do
  cp "${CARGO_TARGET_DIR:-target}/$target/dist/$program" "$folder/$program"
done
