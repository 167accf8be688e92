#!/bin/sh
# Prints the time that all files of a release have, in seconds since 1970: that of the commit, so that two builds of it are equal.
set -eu
cd "$(dirname "$0")/../.."
echo "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
