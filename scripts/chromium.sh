#!/bin/sh
# Prints the path of a Chromium that starts: $CHROMIUM, else the first one
# installed, else one it installs with apt-get where it may. Everything beside
# the path goes to standard error. Without a Chromium it fails and says how to
# get one, since the browser tests are never skipped.
set -u

works() { command -v "$1" >/dev/null 2>&1 && "$1" --version >/dev/null 2>&1; }

find_installed() {
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		if works "$name"; then
			command -v "$name"
			return 0
		fi
	done
	return 1
}

if [ -n "${CHROMIUM:-}" ]; then
	works "$CHROMIUM" && command -v "$CHROMIUM" && exit 0
	echo "planwave: CHROMIUM is \"$CHROMIUM\", which cannot be started. Set it to a Chromium or Chrome, or unset it." >&2
	exit 1
fi
find_installed && exit 0

root=none
if [ "$(id -u)" = 0 ]; then
	root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
	root='sudo -n'
fi
if [ "$root" != none ] && command -v apt-get >/dev/null 2>&1; then
	echo "planwave: the browser tests need Chromium, which is not installed; installing it with apt-get" >&2
	export DEBIAN_FRONTEND=noninteractive
	{
		$root apt-get update -q &&
			$root apt-get install -q -y --no-install-recommends chromium fonts-liberation
	} >&2 </dev/null
	find_installed && exit 0
fi
cat >&2 <<'END'
planwave: the browser tests need Chromium, and none was found. Get it with
  sudo apt-get update && sudo apt-get install -y chromium
or set CHROMIUM to the path of a Chromium or Chrome, and run "make test" again.
END
exit 1
