#!/bin/sh
# Says plainly what is missing to build Planwave: Go in the version of go.mod
# and a C compiler with its headers. It says nothing when all is there.
set -u
GO=${GO:-go}
cd "$(dirname "$0")/.." || exit 1
want=$(sed -n 's/^go //p' go.mod)
missing=0

say() { printf 'planwave: %s\n' "$*" >&2; missing=1; }

if ! command -v "$GO" >/dev/null 2>&1; then
	say "Go is not installed. Get Go $want or newer from https://go.dev/dl/"
elif ! said=$("$GO" list -m 2>&1); then
	say "$("$GO" version) cannot build Planwave, which needs Go $want or newer: https://go.dev/dl/"
	printf '  go says: %s\n' "$said" >&2
fi

# A compiler alone is not enough: on a bare Debian, gcc comes without the C library's headers.
CC=${CC:-$("$GO" env CC 2>/dev/null)}
if ! printf '#include <stdlib.h>\nint main(void) { return 0; }\n' | ${CC:-gcc} -x c -fsyntax-only - >/dev/null 2>&1; then
	say "no working C compiler (${CC:-gcc}), which SQLite needs. On Debian or Ubuntu:"
	printf '  sudo apt-get update && sudo apt-get install -y gcc libc6-dev\n' >&2
fi
exit "$missing"
