#!/bin/sh
# Runs the benchmarks of every package that has one.
set -eu
GO=${GO:-go}
TAGS=${TAGS:-sqlite_fts5}
cd "$(dirname "$0")/.."
packages=$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n1 dirname | sort -u)
[ -n "$packages" ] || { echo 'bench: there is no benchmark' >&2; exit 1; }
# One package at a time, since they would measure each other.
# shellcheck disable=SC2086 # one word a package
exec "$GO" test -p 1 -tags "$TAGS" -run '^$' -bench "${BENCH:-.}" -benchmem -timeout 30m $packages
