#!/usr/bin/env bash
# Takes the pictures of docs/screenshots from the real program with the demo
# model: scripts/screenshots.sh [PROGRAM]. Without a program it builds one.
set -euo pipefail
cd "$(dirname "$0")/.."
chromium=$(scripts/chromium.sh)
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
program=${1:-$work/planwave}
[ -n "${1:-}" ] || go build -tags sqlite_fts5 -o "$program" ./cmd/web
"$program" -addr 127.0.0.1:0 -db "$work/p.db" >"$work/out" 2>&1 &
server=$!
until url=$(sed -n 's/^Planwave is at //p' "$work/out") && [ -n "$url" ]; do sleep 0.1; done

api() { curl -fsS -H 'Content-Type: application/json' "$@"; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }
until_status() { until api "$url/api/v1/runs/$1" | grep -q "\"status\":\"$2\""; do sleep 0.1; done; }
# shoot NAME PATH WIDTH HEIGHT SCHEME, where scheme 0 is dark and 1 is light.
shoot() {
  "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-background-networking --disable-quic \
    --disable-component-update --disable-sync --no-first-run --user-data-dir="$work/profile" --blink-settings=preferredColorScheme="$5" \
    --window-size="$3,$4" --screenshot="docs/screenshots/$1.png" "$url$2" >/dev/null 2>&1
}

question='Which of Brindlemoor, Quillhaven and Tarnby is the most densely populated?'
id=$(api "$url/api/v1/runs" -d "{\"question\":\"$question\"}" | sed 's/,.*//' | field id)
until_status "$id" awaiting_approval
shoot approve-light "/runs/$id" 1280 900 1
shoot editor-light "/runs/$id?edit=1" 1280 900 1
shoot editor-narrow-dark "/runs/$id?edit=1" 500 1400 0
api "$url/api/v1/runs/$id/approve" -d '{"version":1}' >/dev/null
shoot run-light "/runs/$id?step=s4" 1280 900 1
until_status "$id" succeeded
shoot answer-light "/runs/$id?step=s2" 1280 1000 1
shoot answer-dark "/runs/$id?step=s2" 1280 1000 0
shoot answer-narrow-light "/runs/$id" 500 1400 1
id=$(api "$url/api/v1/runs" -d '{"question":"What is the combined population of Quillhaven and Atlantis?","approval":"auto"}' | sed 's/,.*//' | field id)
until_status "$id" succeeded
id=$(api "$url/api/v1/runs" -d '{"question":"Who wrote Faust?"}' | sed 's/,.*//' | field id)
until_status "$id" failed
shoot beyond-light "/runs/$id" 1280 700 1
shoot home-light / 1280 1000 1
shoot home-dark / 1280 1000 0
shoot home-narrow-light / 500 1100 1
shoot history-light /runs 1280 700 1
shoot history-narrow-dark /runs 500 900 0
