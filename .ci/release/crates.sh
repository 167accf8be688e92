#!/usr/bin/env bash
# Packages of the registry of crates:
#
#   crates.sh --check      packages all crates, and checks the contents of the packages
#   crates.sh --test       also tests the packages of libraries outside of the repository, and documents them like docs.rs
#   crates.sh --dry-run    builds each package in the order of their dependencies, as for a release
#   crates.sh --publish    publishes them in this order; needs the token of the registry
#
# Not published are the members of the workspace with `publish = false`, see CONTRIBUTING.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mode=${1:-}
case "$mode" in
  --check | --test) ;;
  # Uncommitted changes are packaged, too: what is checked is what is there.
  --dry-run) exec cargo publish --workspace --locked --dry-run --allow-dirty ;;
  # Built before, by --dry-run: the token expires early.
  --publish) exec cargo publish --workspace --locked --no-verify ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
target=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")

unpublished=()
# The same as paths of Rust, for grep.
unpublished_paths=()
while read -r manifest; do
  name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)
  unpublished+=(--exclude "$name")
  unpublished_paths+=(-e "\b${name//-/_}::")
done < <(grep -l '^publish = false' crates/*/Cargo.toml testing/*/Cargo.toml tools/*/Cargo.toml docs/Cargo.toml)
rm -f "$target"/package/*.crate
cargo package --workspace "${unpublished[@]}" --no-verify --locked --allow-dirty --quiet

# The setting with which the libraries compile in this repository; docs.rs does not read it.
kubernetes=$(sed -n 's/^\(K8S_OPENAPI_ENABLED_VERSION\) = "\(.*\)"$/env.\1='"'\2'/p" .cargo/config.toml)
packages=()
failed=false
fail() {
  echo "$1 $2" >&2
  failed=true
}
for crate in "$target"/package/*.crate; do
  package=$(basename "$crate" .crate)
  packages+=("$package")
  files=$(tar --list --file "$crate")
  for file in LICENSE NOTICE README.md; do
    grep -qx "$package/$file" <<<"$files" || fail "$package" "has no $file"
  done
  manifest=$(tar --extract --to-stdout --file "$crate" "$package/Cargo.toml")
  for field in description license repository rust-version keywords categories readme; do
    grep -q "^$field = " <<<"$manifest" || fail "$package" "has no $field in its manifest"
  done
  if grep -q '^keywords.workspace' "$(grep -l "^name = \"${package%-*}\"" crates/*/Cargo.toml testing/*/Cargo.toml tools/*/Cargo.toml)"; then
    fail "$package" "has no keywords of its own"
  fi
  tree=$(cargo tree --package "${package%-*}" --edges normal --prefix none --all-features --locked)
  if grep -q '^k8s-openapi ' <<<"$tree" && ! grep -qF "\"$kubernetes\"" <<<"$manifest"; then
    fail "$package" "does not choose $kubernetes for docs.rs in its manifest"
  fi
  # A package has no such dev-dependency. Programs are tested in the repository only.
  code=$(tar --extract --to-stdout --file "$crate" "$package/src")
  if [ "${package%-*}" != endpoint-controller-manager ] && grep -q "${unpublished_paths[@]}" <<<"$code"; then
    fail "$package" "uses a crate in a unit test that is not published"
  fi
  # The limit of crates.io.
  size=$(wc -c <"$crate")
  [ "$size" -le 10000000 ] || fail "$package" "has $size bytes, more than 10 MB"
done
if "$failed"; then
  exit 1
fi
printf '%s packages: %s\n' "${#packages[@]}" "${packages[*]}"

if [ "$mode" = --check ]; then
  exit 0
fi

# A workspace of the packages alone, outside of the repository. Their dependencies on each other are those of the registry, replaced by
# the folders.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
patches=""
libraries=()
for package in "${packages[@]}"; do
  # Packaged files have a fixed time, by which cargo would take those of an earlier run for unchanged.
  tar --extract --touch --file "$target/package/$package.crate" --directory "$folder"
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
debug = false
MANIFEST
cp Cargo.lock "$folder"
# The same folder for the dependencies from the registry, which are built already. The packages are built once.
export CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$target
cd "$folder"
cargo test --no-fail-fast "${libraries[@]}"

# As docs.rs does: one library at a time, with the settings of its manifest.
for package in "${packages[@]}"; do
  [ -e "$package/src/lib.rs" ] || continue
  settings=$(sed -n '/^\[package\.metadata\.docs\.rs\]$/,/^$/p' "$package/Cargo.toml" | tr -d ' \n"')
  arguments=()
  if [[ $settings == *all-features=true* ]]; then
    arguments+=(--all-features)
  elif [[ $settings =~ \]features=\[([^]]*)\] ]]; then
    arguments+=(--features "${BASH_REMATCH[1]}")
  fi
  if [[ $settings == *"$kubernetes"* ]]; then
    arguments+=(--config "$kubernetes")
  fi
  echo "Documenting $package ${arguments[*]}"
  cargo rustdoc --quiet --lib --package "${package%-*}" "${arguments[@]}" -- -D warnings
done
