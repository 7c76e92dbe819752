#!/bin/sh
# Runs every fuzz target of the tree, one after the other, for $FUZZTIME each.
set -eu
GO=${GO:-go}
TAGS=${TAGS:-sqlite_fts5}
cd "$(dirname "$0")/.."
targets=$(grep -rn --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' . | sed 's|^\(.*\)/[^/]*:[0-9]*:func \(.*\)$|\1 \2|' | sort)
[ -n "$targets" ] || { echo 'fuzz: there is no fuzz target' >&2; exit 1; }
echo "$targets" | while read -r package target; do
	echo "fuzz: $package $target for ${FUZZTIME:-30s}"
	"$GO" test -tags "$TAGS" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 20x "$package" </dev/null
done
