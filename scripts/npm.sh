#!/bin/sh
# Prints the folder of what the tests need from npm, MCP servers and axe-core:
# $PLANWAVE_NPM, else tmp/npm, which it fills as scripts/npm/package-lock.json
# says. Everything beside the path goes to
# standard error. Without npm it installs Node.js with apt-get where it may;
# else it fails and says how to get it, since these tests are never skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
want=scripts/npm
folder=$(pwd)/tmp/npm

complete() { cmp -s "$want/package-lock.json" "$1/package-lock.json" && [ -d "$1/node_modules/axe-core" ]; }

if [ -n "${PLANWAVE_NPM:-}" ]; then
	[ -d "$PLANWAVE_NPM/node_modules/axe-core" ] && echo "$PLANWAVE_NPM" && exit 0
	echo "planwave: PLANWAVE_NPM is \"$PLANWAVE_NPM\", which lacks them. Set it to a folder where \"npm ci\" ran, or unset it." >&2
	exit 1
fi

runs() { command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1; }

if ! runs; then
	root=none
	if [ "$(id -u)" = 0 ]; then
		root=
	elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
		root='sudo -n'
	fi
	if [ "$root" != none ] && command -v apt-get >/dev/null 2>&1; then
		echo "planwave: the tests need Node.js and npm; installing them with apt-get" >&2
		export DEBIAN_FRONTEND=noninteractive
		{
			$root apt-get update -q && $root apt-get install -q -y --no-install-recommends nodejs npm
		} >&2 </dev/null
	fi
fi
if ! runs; then
	cat >&2 <<'END'
planwave: the tests with MCP servers and axe-core need Node.js 20 or newer with npm. Get them with
  sudo apt-get update && sudo apt-get install -y nodejs npm
or from https://nodejs.org/, and run "make test" again.
END
	exit 1
fi

if ! complete "$folder"; then
	echo "planwave: getting the MCP servers and axe-core for the tests, with npm" >&2
	mkdir -p tmp
	new=$(mktemp -d tmp/npm.XXXXXX) || exit 1
	cp "$want/package.json" "$new/" &&
		(cd "$new" && cp "../../$want/package-lock.json" . && npm ci --ignore-scripts --no-audit --no-fund >&2 </dev/null) || {
		rm -rf "$new"
		echo "planwave: npm could not get what the tests need; see above. With a connection, run \"make test\" again." >&2
		exit 1
	}
	# Another run may have been faster: what it made is as good.
	complete "$folder" || { rm -rf "$folder" && mv "$new" "$folder"; }
	rm -rf "$new"
fi
echo "$folder"
