#!/bin/sh
# Draws the same graphs with internal/layout, graphviz dot, dagre and ELK, and
# prints how the drawings compare. PLANWAVE_GRAPHS may name a folder with more
# graphs; "-h" lists the arguments.
set -eu
GO=${GO:-go}
cd "$(dirname "$0")/../bench"
for tool in dot node npm; do
	command -v "$tool" >/dev/null 2>&1 || {
		echo "bench-layout: $tool is not installed. Get it with: sudo apt-get install -y graphviz nodejs npm" >&2
		exit 1
	}
done
[ -d node_modules/elkjs ] && [ -d node_modules/@dagrejs/dagre ] ||
	npm ci --ignore-scripts --no-audit --no-fund >&2
"$GO" test ./... >&2
exec "$GO" run . "$@"
