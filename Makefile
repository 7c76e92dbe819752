# The one door: what is done with Planwave is a target here, and CI calls
# nothing else. "make" alone lists the targets.

GO        ?= go
# SQLite's full-text search is compiled in by this tag.
TAGS      := sqlite_fts5
FUZZTIME  ?= 30s
BENCH     ?= .
VULNDB    ?= https://vuln.go.dev
# How often "make crash" kills the program.
KILLS     ?= 200
# Arguments of the program, as in: make run ARGS="-addr 127.0.0.1:9090"
ARGS      ?=

# Without debug information SQLite compiles in nearly half the time.
CGO_ENABLED := 1
CGO_CFLAGS  ?= -O2 -g0
export GO TAGS FUZZTIME BENCH VULNDB CGO_ENABLED CGO_CFLAGS

LINT := $(GO) tool -modfile=tools/go.mod golangci-lint

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: run
run: build ## Start Planwave on http://127.0.0.1:8080 (ARGS="-h" lists its settings)
	@exec bin/planwave $(ARGS)

.PHONY: build
build: ## Build the program as bin/planwave
	@scripts/need.sh
	@echo 'Building bin/planwave; the first time takes a minute or two, since SQLite is compiled.'
	@$(GO) build -tags $(TAGS) -o bin/planwave ./cmd/web

.PHONY: test
test: ## Run every test with the race detector, those in a real browser and with real MCP servers too
	@scripts/need.sh
	chromium=$$(scripts/chromium.sh) && npm=$$(scripts/npm.sh) && \
		PLANWAVE_CHROMIUM="$$chromium" PLANWAVE_NPM="$$npm" \
		$(GO) test -race -shuffle=on -count=1 -timeout 15m -tags $(TAGS) ./...

.PHONY: crash
crash: ## Kill the program KILLS (200) times at random moments and hold what it leaves to its promises
	@scripts/need.sh
	PLANWAVE_KILLS=$(KILLS) $(GO) test -race -count=1 -timeout 60m -tags $(TAGS) -v -run '^TestCrashHarness$$' ./cmd/web

.PHONY: verify
verify: ## Check that generated code is fresh, go.mod tidy, everything formatted and vetted
	@scripts/need.sh
	scripts/verify.sh

.PHONY: lint
lint: ## Run the linters (the first time builds them, two to three minutes)
	@scripts/need.sh
	$(LINT) run

.PHONY: bench
bench: ## Run the benchmarks (BENCH=Layout for some of them)
	scripts/bench.sh

.PHONY: bench-layout
bench-layout: ## Draw the same graphs with internal/layout, graphviz dot, dagre and ELK, and compare (a quarter of an hour)
	scripts/bench-layout.sh $(ARGS)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s) each
	scripts/fuzz.sh

.PHONY: generate
generate: ## Write the Go code of the templates
	$(GO) tool templ generate -path web

.PHONY: gallery
gallery: ## Show every page in every state, from canned data, on http://127.0.0.1:8099
	$(GO) run ./web/gallery -addr 127.0.0.1:8099

.PHONY: fmt
fmt: ## Format Go code and templates
	$(GO) tool templ fmt web
	$(GO) tool gofumpt -w .

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what is called (VULNDB=module where only the module proxy is reached)
	scripts/vuln.sh
