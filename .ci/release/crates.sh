#!/usr/bin/env bash
# Packages of the registry of crates, in the order of their dependencies:
#
#   crates.sh --dry-run    packages and builds all of them as for a release, and checks their contents
#   crates.sh --test       does the same, and runs the tests of the libraries' packages outside of the repository
#   crates.sh --publish    publishes them; needs the token of the registry
#
# Not published are the members of the workspace with `publish = false`, see CONTRIBUTING.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mode=${1:-}
case "$mode" in
  --dry-run | --test) ;;
  # They have been built by --dry-run.
  --publish) exec cargo publish --workspace --locked --no-verify ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
target=${CARGO_TARGET_DIR:-$PWD/target}

# Uncommitted changes are packaged, too: what is checked is what is there.
cargo publish --workspace --dry-run --locked --allow-dirty

# `cargo publish` removes the packages, `cargo package` leaves them.
unpublished=()
while read -r manifest; do
  unpublished+=(--exclude "$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)")
done < <(grep -l '^publish = false' crates/*/Cargo.toml conformance/Cargo.toml docs/Cargo.toml)
rm -f "$target"/package/*.crate
cargo package --workspace "${unpublished[@]}" --no-verify --locked --allow-dirty --quiet

packages=()
failed=false
for crate in "$target"/package/*.crate; do
  package=$(basename "$crate" .crate)
  packages+=("$package")
  files=$(tar --list --file "$crate")
  for file in LICENSE NOTICE README.md; do
    if ! grep -qx "$package/$file" <<<"$files"; then
      echo "$package has no $file" >&2
      failed=true
    fi
  done
  manifest=$(tar --extract --to-stdout --file "$crate" "$package/Cargo.toml")
  for field in description license repository rust-version keywords categories readme; do
    if ! grep -q "^$field = " <<<"$manifest"; then
      echo "$package has no $field in its manifest" >&2
      failed=true
    fi
  done
  # The limit of crates.io.
  size=$(wc -c <"$crate")
  if [ "$size" -gt 10000000 ]; then
    echo "$package has $size bytes, more than 10 MB" >&2
    failed=true
  fi
done
if "$failed"; then
  exit 1
fi
printf '%s packages: %s\n' "${#packages[@]}" "${packages[*]}"

if [ "$mode" = --dry-run ]; then
  exit 0
fi

# A workspace of the packages alone, outside of the repository. Their dependencies on each other are those of the registry, replaced by
# the folders.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
patches=""
libraries=()
for package in "${packages[@]}"; do
  tar --extract --file "$target/package/$package.crate" --directory "$folder"
  name=${package%-*}
  patches+="$name = { path = \"$package\" }"$'\n'
  # Programs are tested in the repository only.
  if [ -e "$folder/$package/src/lib.rs" ] && [ "$name" != endpoint-controller-manager ]; then
    libraries+=(--package "$name")
  fi
done
cat >"$folder/Cargo.toml" <<MANIFEST
[workspace]
members = ["*-*"]
resolver = "3"

[patch.crates-io]
$patches
[profile.dev]
debug = "line-tables-only"

[profile.dev.package."*"]
debug = false
MANIFEST
cp Cargo.lock "$folder"
# The same folder for the dependencies from the registry, which are built already.
CARGO_TARGET_DIR=$target cargo test --manifest-path "$folder/Cargo.toml" "${libraries[@]}"
