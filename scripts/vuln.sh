#!/bin/sh
# Looks for known vulnerabilities in what the program really calls. VULNDB is
# the address of the database. Where only the module proxy is reached,
# VULNDB=module builds the database from the module golang.org/x/vulndb.
set -eu
GO=${GO:-go}
TAGS=${TAGS:-sqlite_fts5}
db=${VULNDB:-https://vuln.go.dev}
cd "$(dirname "$0")/.."
if [ "$db" = module ]; then
	made=$(mktemp -d)
	trap 'rm -rf "$made"' EXIT
	module=$(cd "$made" && "$GO" mod download -json golang.org/x/vulndb@latest | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	(cd "$module" && "$GO" run -mod=readonly ./cmd/indexdb -vulns data/osv -out "$made/db")
	db=file://$made/db
fi
"$GO" tool -modfile=tools/go.mod govulncheck -db "$db" -tags "$TAGS" ./...
