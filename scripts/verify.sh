#!/bin/sh
# Holds that the tree is what its sources say: generated code is fresh and
# kept in git, go.mod is tidy, everything is formatted and vetted. It goes
# through all checks, changes nothing, and fails at the end if one failed.
set -u
GO=${GO:-go}
TAGS=${TAGS:-sqlite_fts5}
cd "$(dirname "$0")/.." || exit 1
failed=0

wrong() { printf 'verify: %s\n' "$*" >&2; failed=1; }

"$GO" tool templ generate -check -keep-orphaned-files -path web -log-level warn >&2 ||
	wrong 'generated code is not fresh: run "make generate" and commit what it changes'
for generated in $(find web -name '*_templ.go'); do
	[ -e "${generated%_templ.go}.templ" ] || wrong "$generated has no template any more: remove it"
done
untracked=$(git ls-files --others --exclude-standard -- '*_templ.go')
[ -z "$untracked" ] || wrong "generated files are not in git: $untracked"

"$GO" mod tidy -diff || wrong 'go.mod or go.sum is not tidy: run "go mod tidy"'

unformatted=$("$GO" tool gofumpt -l .)
[ -z "$unformatted" ] || wrong "not formatted, run \"make fmt\": $unformatted"

"$GO" vet -tags "$TAGS" ./... || wrong 'go vet found the above'
exit "$failed"
