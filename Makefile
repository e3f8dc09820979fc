# netdyno's targets. `make` prints them.
SHELL := /bin/bash
# Runs the line as bash -c does, and notes what it took when make test asks.
.SHELLFLAGS = .ci/lane @$@
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
export CGO_ENABLED := 0
# The toolchain that is installed, not one that is fetched behind the back.
export GOTOOLCHAIN := local
GO_NEEDED := $(shell sed -n 's/^go //p' go.mod)
ifneq ($(words $(CURDIR)),1)
$(error make cannot work in a directory whose path has a space, such as $(CURDIR): move the checkout; what is built runs anywhere)
endif
BIN := $(CURDIR)/bin
TOOLS := $(CURDIR)/.tools
GOLANGCI := v2.15.0
CLANG_FORMAT := 14.0.6
# For every go command, so that all use the packages that one compiled: the
# workers that netdyno builds around a user's message leave no paths in
# programs. And gin without MessagePack, which nothing here speaks and which
# takes longer to compile than all the rest of it; gRPC without x/net/trace, which
# is off, and gin's validator without validateFn, which no message here has: both look
# methods up by name, so that the linker would keep every method of every library.
# Without tables for debuggers, which the linker would drop.
TAGS := nomsgpack,grpcnotrace,validator_novalidatefn
# In a checkout of another owner git tells go nothing, and go fails unless told not to ask.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)
export GOFLAGS := -trimpath -tags=$(TAGS) -gcflags=all=-dwarf=false -buildvcs=$(VCS)
# Workers carry their sources packed, by an archive that tools/pack makes first; what go
# builds without this tag carries them as they are.
PACKED := -tags=$(TAGS),packed
# Without the tables for debuggers and the linker's symbols. Profiled trials (probes)
# name Go's functions all the same. perf does not; for it: make go-build
# GO_BUILD=-ldflags=-w. test/programs builds with the same.
GO_BUILD := -ldflags='-s -w'

.PHONY: help
help: ## print the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

.PHONY: run tour
run: go-there ## the quick tour: five questions answered by the workers in Go, 5 minutes at most; STUDY=NAME runs one study
	@STUDY='$(STUDY)' .ci/tour quick
tour: go-there ## every study in short, with every worker that can be built here: 15 minutes and more
	@.ci/tour all

# What is tested first, in minutes: all that starts no program, and one run for each wire.
# Go's parts follow each other: two that compile the same package at once both compile it.
# Runs follow what would make them late.
.PHONY: test
test: go-there ## set up and pass the quick tests: all that starts no program, one run for each wire, the C++ kit, the page's types
	@.ci/lanes short native-kit page then vet then wires

# The rest. What measures runs last and alone; what compiles goes before it.
.PHONY: test-all
test-all: go-there ## set up and pass the tests that make test leaves out: whole programs, sanitizers, rigs, foreign servers, browser, linter
	@.ci/lanes native-asan native-tsan race kits-unit lint browser then whole

.PHONY: check
check: test test-all ## both: what CI runs

.PHONY: quick
quick: go-there ## tests of what a change can touch, in about ten seconds: packages that have changed, then those that import them
	@go run ./tools/quick

.PHONY: build
build: packages-build go-build native-build ## every binary into bin/

# The toolchains that no Debian package of this release brings new enough.
.PHONY: go-there node-there
go-there:
	@command -v go >/dev/null || { echo "netdyno needs Go $(GO_NEEDED) or newer on PATH (go.dev/dl)"; exit 1; }
	@v=$$(cd / && go env GOVERSION | grep -oE '[0-9]+(\.[0-9]+)+' | head -1); printf '%s\n' $(GO_NEEDED) "$$v" | sort -VC || [ "$(GOTOOLCHAIN)" != local ] || \
	  { echo "netdyno needs Go $(GO_NEEDED) or newer, and $$(command -v go) is $$v: install one (go.dev/dl), or let Go 1.21 and newer fetch it: make GOTOOLCHAIN=auto"; exit 1; }
node-there:
	@command -v npm >/dev/null || { echo "the report's page needs Node 20.19 or newer on PATH (nodejs.org)"; exit 1; }

# modules,DIRECTORY,PACKAGES fetches what the packages import, and says what to do where that
# cannot be had.
modules = (cd $(1) && go list -deps $(2)) 2>&1 >/dev/null | grep -v '^go: downloading' >&2 || [ "$${PIPESTATUS[0]}" = 0 ] || \
  { echo "fetching Go's modules failed: it needs the network once (go env GOPROXY says where), or a filled $$(go env GOMODCACHE)"; exit 1; }

.PHONY: go-build go-main
go-build: go-main
	@$(call modules,workers/gin,./...)
	@cd workers/gin && go build $(GO_BUILD) $(PACKED) -o $(BIN)/ ./...
# The programs of the main module.
go-main: go-there
	@mkdir -p $(BIN)
	@# Earlier versions built a Go worker of this name. It now belongs to Apache brpc.
	@! go version $(BIN)/netdyno-worker-brpc 2>/dev/null | grep -q ': go1' || rm -f $(BIN)/netdyno-worker-brpc
	@# And these are no more (docs/decisions.md).
	@rm -f $(BIN)/netdyno-worker-baidu $(BIN)/netdyno-worker-baidu-std-asio
	@$(call modules,.,./cmd/...)
	@go run ./tools/pack
	@go build $(GO_BUILD) $(PACKED) -o $(BIN)/ ./cmd/...

# Release files hold the programs in Go, which are linked with nothing: they run on
# every Linux of this architecture. Those in C++ need a distribution's libraries.
RELEASE ?= $(shell git describe --tags --match 'v[0-9]*' 2>/dev/null | cut -c2- | grep . || echo 0.0.0+g$$(git rev-parse --short HEAD))
COMMIT = $(shell git rev-parse HEAD)$(shell git diff --quiet HEAD || echo +changes)
RELEASE_BUILD = -buildvcs=false $(PACKED) -ldflags='-s -w -X main.release=$(RELEASE) -X main.releaseCommit=$(COMMIT)'

ARCHITECTURES := amd64 arm64
.PHONY: dist
dist: go-there ## release files in dist/: tarball, .deb, .rpm, OCI image, SBOM, notes, SHA-256 sums
	@rm -rf dist
	@go run ./tools/pack
	@for a in $(ARCHITECTURES); do \
	  GOARCH=$$a go build $(RELEASE_BUILD) -o dist/programs/$$a/ ./cmd/... && \
	  (cd workers/gin && GOARCH=$$a go build $(RELEASE_BUILD) -o ../../dist/programs/$$a/ ./...) || exit 1; done
	@cd tools/dist && go run . -release '$(RELEASE)' -commit '$(COMMIT)' -time "$$(git log -1 --format=%ct)" -changelog ../../CHANGELOG.md ../../dist
	@rm -rf dist/programs dist/share
	@cd dist && ls -lh

.PHONY: dist-test
dist-test: dist packages-dist ## test what packs; install the .deb into an empty root directory, load the image, start programs for arm64, as root
	@cd tools/dist && go test -count=1 ./...
	@go test -count=1 ./tools/rename
	@tools/dist/install-test dist/*-amd64.deb
	@tools/dist/load-test dist
	@cp dist/SHA256SUMS build-first-sums && $(MAKE) dist >/dev/null && cmp build-first-sums dist/SHA256SUMS && rm build-first-sums && echo "built twice: every file has the same sum"

# The module's path, in go.mod, has a host only once it is published at one.
.PHONY: rename
rename: go-there ## give the module another path: make rename MODULE=host/owner/netdyno
	@go run ./tools/rename '$(MODULE)'

# One program of the main module, for what needs no other yet: its sources are not packed,
# which would take the compiling of others.
# What the quick tour needs.
.PHONY: go-quick
go-quick: go-there
	@mkdir -p $(BIN)
	@GOGC=400 go build $(GO_BUILD) -o $(BIN)/ ./cmd/netdyno ./cmd/netdyno-host ./cmd/netdyno-worker-net ./cmd/netdyno-worker-http ./cmd/netdyno-worker-grpc

.PHONY: go-program
go-program: go-there
	@mkdir -p $(BIN)
	@$(call modules,.,./cmd/$(PROGRAM))
	@go build $(GO_BUILD) -o $(BIN)/ ./cmd/$(PROGRAM)

# Without its packages the native part is left out; the Go arms work all the same.
.PHONY: native-build native-there
native-build: packages-build
	@.ci/native $(BIN)
# As far as it compiles: no reason to leave out a tour.
native-there:
	@$(MAKE) native-build || true

# Workers in other languages, each built by its kit as far as its toolchain is here; one
# that is missing is named with the command that brings it.
KITS := rust java python node
.PHONY: kits kits-unit kits-test kits-bench
kits: ## workers in Rust, Java, Python and Node.js into bin/, of every toolchain that is here: minutes
	@for k in $(KITS); do $(MAKE) -C kits/$$k build OUT=$(BIN) || exit 1; done
# As far as its registries answer: no reason to leave out a tour.
.PHONY: kits-there
kits-there:
	@for k in $(KITS); do $(MAKE) -C kits/$$k build OUT=$(BIN) >build-kit.log 2>&1 || echo "kits/$$k is left out: $$(tail -1 build-kit.log)"; grep -h '^absent: ' build-kit.log || true; rm -f build-kit.log; done
kits-unit: go-build ## the kits' own tests, in every language whose toolchain is here
	@for k in $(KITS); do $(MAKE) -C kits/$$k unit OUT=$(CURDIR)/build/kits NETDYNO=$(BIN)/netdyno >build-kit-$$k.log 2>&1 || { cat build-kit-$$k.log; exit 1; }; grep -h '^absent: ' build-kit-$$k.log || true; rm -f build-kit-$$k.log; done
kits-test: build kits ## the kits' tests, and netdyno check for their workers
	@for k in $(KITS); do $(MAKE) -C kits/$$k test check OUT=$(BIN) NETDYNO=$(BIN)/netdyno || exit 1; done
	@NETDYNO_SOAK=1 go test -count=1 -timeout 60m ./test/crosswise
kits-bench: build kits ## what the kits cost: a slot's calls, and each arm against a bare program on its library
	@for k in $(KITS); do $(MAKE) -C kits/$$k bench OUT=$(BIN) NETDYNO=$(BIN)/netdyno || exit 1; done

# packages-NEED installs what packages.txt lists for NEED; apt does one at a time.
PACKAGES := $(addprefix packages-,kit build run test rdma cluster dist)
.PHONY: $(PACKAGES)
packages-build: packages-kit
packages-run: packages-build
packages-test: packages-run
packages-rdma: packages-run
packages-cluster: packages-test
$(PACKAGES):
	@.ci/packages $(@:packages-%=%)

# What runs concurrently is tested under the race detector, too; what libraries carry only
# by make soak.
RACED := ./internal/work/load ./internal/work/wire/... ./internal/run/rig ./internal/run/meter/... \
  ./internal/hist ./internal/tcpinfo ./cmd/netdyno-worker-net ./test/workers

# NETDYNO_BUILT spares every test package from asking again whether bin/ is up to date.
# Vet is a part of its own.
# The interpreter itself is first on PATH: a shim before it costs more than it does.
GO_TEST := env NETDYNO_BUILT=1 PATH="$$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null || echo /usr/bin):$$PATH" go test -vet=off -timeout 20m

# All tests of these packages start programs.
WHOLE := ./cmd/netdyno-worker-... ./kits/... ./test/...
# Tests of these are skipped where time is short, or where packages-test is not installed yet.
LONG = $$(grep -rlE --include=*_test.go 't\.Skip|testing\.Short|netdyno/test/programs' *.go cmd internal tools peers | xargs dirname | sort -u | sed 's,^,./,')
# What is held to a known truth by its times needs a machine of its own: make truth.
TRUTH := ./test/limits ./test/truth

.PHONY: short
short: go-there ## Go tests that start no program
	@$(call modules,.,-test ./...)
	@$(GO_TEST) -short $$(comm -23 <(go list ./... | sort) <(go list $(WHOLE) | sort)) ./test/answers

.PHONY: wires
wires: go-main ## one run for each wire
	@$(GO_TEST) -count=1 ./test/wires

.PHONY: whole
whole: build packages-test ## Go tests that start programs, or that take long; all others are those of short
	@[ -x $(TOOLS)/kubernetes/kubelet ] && command -v etcd containerd >/dev/null || echo "absent: a cluster of Kubernetes for test/kube (make kubernetes-there packages-cluster, in minutes)"
	@# Those that take longest begin first.
	@$(GO_TEST) -skip '^TestTruth|^TestARenamedModuleBuilds' $$(go list ./cmd/netdyno $(WHOLE) $(LONG) | grep -vxF "$$(go list $(TRUTH))")
	@cd workers/gin && $(GO_TEST) ./...

.PHONY: race
race: build packages-test ## Go tests of what runs concurrently, under the race detector
	@CGO_ENABLED=1 $(GO_TEST) -race -skip '^TestTruth|^TestConforms|^TestEvery(KindOfExchange|Load)/.*(http|grpc|connect|quic)' $(RACED)

# The guest is emulated, so this takes minutes of CPU time and is no part of test.
IN_GUEST := NETDYNO_BUILT=1 go test -count=1 -v -tags=$(TAGS),rdma -timeout 15m ./test/rdma
.PHONY: test-rdma
test-rdma: build packages-rdma ## boot a guest with RDMA in software, and run verbs and perftest in it: reads, writes, sends, and every refusal
	@$(IN_GUEST)

KUBERNETES_TEST := NETDYNO_SOAK=1 NETDYNO_BUILT=1 go test -count=1 -v -timeout 30m ./test/lab ./test/kube
.PHONY: test-kube
test-kube: build packages-cluster kubernetes-there ## rig k8s on a cluster of two nodes: runs, refusals, what dies in mid-run, and what a killed netdyno leaves
	@$(KUBERNETES_TEST)

.PHONY: soak
soak: build packages-test packages-rdma packages-cluster kubernetes-there ## both race detectors over every worker and library, every fault of a rig in every state, the table of faults, a calibration, RDMA in a guest, a cluster of Kubernetes, C++ tests of what is shipped, fuzzers for ten minutes each: many minutes
	@CGO_ENABLED=1 go test -race -count=3 -skip '^TestConforms' ./internal/work/... ./cmd/netdyno-worker-net ./test/workers
	@# netpoll with one end per process: test/workers/netpoll_test.go says why.
	@CGO_ENABLED=1 go build -race -o $(TOOLS)/race/ ./cmd/netdyno-worker-netpoll
	@$(BIN)/netdyno check $(TOOLS)/race/netdyno-worker-netpoll
	@cd workers/gin && CGO_ENABLED=1 go test -race -count=3 ./...
	@NETDYNO_SOAK=1 go test -count=1 -v -run "^TestLooks" ./internal/read/compare
	@NETDYNO_SOAK=1 go test -count=1 -v ./internal/read/mesh
	@NETDYNO_SOAK=1 go test -count=1 ./internal/read/report
	@$(MAKE) kits-test
	@NETDYNO_SOAK=1 go test -count=1 -v -timeout 30m ./test/distros
	@NETDYNO_SOAK=1 go test -count=1 -timeout 30m -run "^TestClaims|^TestAFittedStudy" ./internal/read/finding ./internal/run/study
	@NETDYNO_SOAK=1 go test -count=1 -v ./test/rigs ./internal/run/rig/namespaces ./internal/run/rig/containers
	@$(KUBERNETES_TEST)
	@NETDYNO_SOAK=1 go test -count=1 -run '^TestAServerTookWhatTheClientsSent$$' ./test/foreign
	@NETDYNO_SOAK=1 go test -count=1 -v -timeout 60m -run "^TestFaults$$" ./test/faults
	@NETDYNO_SOAK=1 go test -count=1 -v -run "^TestCalibrate$$" ./cmd/netdyno
	@for f in HTTP1 HTTP2 TLS GRPC; do go test ./internal/run/target -run '^$$' -fuzz "^Fuzz$$f\$$" -fuzztime 10m || exit 1; done
	@$(IN_GUEST)
	@cd native; $(call native_tests,release)
	@cd native; $(call native_tests,asan,-DNETDYNO_SANITIZE_ACCESS=ON -DNETDYNO_FUZZ_SECONDS=600)
	@cmake --build build/native-asan --target netdyno-worker-http1-uring netdyno-worker-http1-asio netdyno-worker-h2-uring netdyno-worker-h2-asio netdyno-worker-grpc-nghttp2 netdyno-worker-grpc-nghttp2-asio >/dev/null
	@NETDYNO_BIN=$(CURDIR)/build/native-asan/bin go test -count=1 -run 'HTTP1|H2|Nghttp2|TLS' ./test/native
	@cd native; $(call native_tests,tsan,-UNETDYNO_ONLY)

# native_tests,PRESET,OPTIONS,TARGETS,WHICH configures, builds and runs the C++ tests of a preset.
native_tests = cmake --preset $(1) $(2) >/dev/null; \
  cmake --build --preset $(1) $(3) >/dev/null || cmake --build --preset $(1) $(3); \
  ctest --preset $(1) $(4)

.PHONY: native-test
native-test: native-asan native-tsan ## C++ tests under the address, undefined and thread sanitizers

# Unit tests and vectors of the kit, without a sanitizer.
.PHONY: native-kit
native-kit: packages-kit
	@if [ "$$(command -v cmake ninja g++ | wc -l)" = 3 ]; then \
	  cd native && cmake --preset kit >/dev/null && { cmake --build --preset kit >/dev/null || cmake --build --preset kit; } && ctest --preset kit; \
	else echo "the tests in C++ are left out: cmake, ninja or g++ is missing"; fi

.PHONY: native-asan
native-asan: packages-test
	@cd native; $(call native_tests,asan,-DNETDYNO_SANITIZE_ACCESS=OFF -DNETDYNO_FUZZ_SECONDS=0)

# A library of loops and one of rings show the kit's threads and theirs; soak has them
# all, and every combination of the rings' options.
.PHONY: native-tsan
native-tsan: packages-test
	@cd native; $(call native_tests,tsan,-DNETDYNO_ONLY="threads;asio;uring;mpi",\
	  --target kit-test mpi-parts-test threads-test worker-test message-worker-test message-worker netdyno-worker-asio netdyno-worker-threads netdyno-worker-uring,-R '^(kit|message-worker|mpi-parts|threads|netdyno-worker-.*)$$')

# Without npm the page as it was built is tested by the Go tests all the same.
.PHONY: page
page: ## TypeScript: format, lint, types
	@if command -v npm >/dev/null; then $(MAKE) web-tools && cd web && npm run -s check; \
	else echo "the page's format and types are left out: npm is missing (nodejs.org)"; fi

.PHONY: browser
browser: web-tools packages-test go-build ## the report in Chromium
	@if said=$$(timeout 60 "$${CHROMIUM:-/usr/bin/chromium}" --headless --no-sandbox --disable-gpu --dump-dom about:blank 2>&1); then cd web && npm run -s test; \
	else echo "absent: a browser that works here: $$(tail -1 <<<"$$said")"; fi

.PHONY: vet
vet: go-there ## gofmt and go vet
	@out=$$(gofmt -l $$(git ls-files "*.go")); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	@go vet ./...

.PHONY: lint
lint: lint-tools go-build packages-test ## lint Go, and C++ for its format
	@go mod tidy -diff
	@cd workers/gin && go mod tidy -diff
	@GOGC=300 $(TOOLS)/golangci-lint run ./...
	@cd workers/gin && GOGC=300 $(TOOLS)/golangci-lint run ./...
	@.ci/clang-format $(CLANG_FORMAT) $(TOOLS) --dry-run --Werror

.PHONY: lint-tools
lint-tools: go-there $(TOOLS)/golangci-lint-$(GOLANGCI)
# After go-build: two that compile the same package at once both compile it.
$(TOOLS)/golangci-lint-$(GOLANGCI): .golangci.yml .ci/golangci-lint | go-build
	@mkdir -p $(TOOLS)
	@.ci/golangci-lint $(GOLANGCI) $(TOOLS)
	@touch $@

.PHONY: web-tools
web-tools: node-there web/node_modules/.package-lock.json
web/node_modules/.package-lock.json: web/package-lock.json
	@# Not npm ci: it demands an entry for the optional binary of every platform,
	@# and the lock file holds those of Linux only.
	@cd web && npm install --no-save --silent --no-audit --no-fund
	@touch $@

# A database that cannot be reached is named and fails nothing; what is found fails.
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
.PHONY: audit
audit: go-there node-there ## known weaknesses of what is linked: govulncheck for each Go module, npm audit for the page
	@for d in . workers/gin tools/dist; do \
	  said=$$(cd $$d && GOFLAGS=-tags=$(TAGS) go run $(GOVULNCHECK) ./... 2>&1) && continue; \
	  if grep -q '^Vulnerability #' <<<"$$said"; then echo "$$said"; exit 1; fi; \
	  echo "not audited: $$d: $$(grep -v '^exit status' <<<"$$said" | tail -1)"; done
	@said=$$(cd web && npm audit 2>&1) || \
	  if grep -q 'Severity:' <<<"$$said"; then echo "$$said"; exit 1; else echo "not audited: web: $$(grep -m1 . <<<"$$said")"; fi

.PHONY: format
format: web-tools ## rewrite files in their canonical format
	@gofmt -w $$(git ls-files "*.go")
	@.ci/clang-format $(CLANG_FORMAT) $(TOOLS) -i
	@cd web && npm run -s format

.PHONY: golden
golden: ## rewrite golden files and the studies' answers for review in the diff
	@go test ./test/answers ./internal/read/report ./internal/run/study ./internal/run/rig ./internal/contract -update
	@go test . -run TestSchemaOfFindings -update

# Servers that others wrote and that are in no package of this release, at fixed versions.
SERVERS := $(TOOLS)/servers
PYTHON_SERVERS := fastapi==0.165.0 uvicorn==0.54.0 gunicorn==27.0.1 flask==3.1.3 grpcio==1.85.3 grpcio-tools==1.85.1 grpcio-reflection==1.85.1 websockets==17.4
CADDY := github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
NODE_SERVERS := express@5.3.0 ws@8.23.0
.PHONY: servers-there
servers-there: go-there
	@mkdir -p $(SERVERS)
	@[ -x $(SERVERS)/venv/bin/uvicorn ] || { python3 -m venv $(SERVERS)/venv && $(SERVERS)/venv/bin/pip install -q $(PYTHON_SERVERS); } || echo "the servers in Python are left out"
	@[ -d $(SERVERS)/node_modules/ws ] || npm install --prefix $(SERVERS) --silent --no-audit --no-fund $(NODE_SERVERS) || echo "the servers in Node are left out"
	@[ -x $(SERVERS)/caddy ] || GOFLAGS=-trimpath GOBIN=$(SERVERS) go install $(CADDY) || echo "Caddy is left out"
	@go build -o $(SERVERS)/goserver ./test/goserver

# Kubernetes' own programs, of which tests start a cluster. test/lab/kubernetes is no
# code, but a go.mod that says which.
.PHONY: kubernetes-there
kubernetes-there: $(TOOLS)/kubernetes/kubelet ## Kubernetes' programs into .tools/, for tests of rig k8s: minutes
$(TOOLS)/kubernetes/kubelet: test/lab/kubernetes/go.mod | go-there
	@cd test/lab/kubernetes && v=$$(go list -m -f '{{.Version}}' k8s.io/kubernetes) && minor=$${v#v1.} && set= && \
	  for p in component-base/version client-go/pkg/version; do \
	    set="$$set -X k8s.io/$$p.gitVersion=$$v -X k8s.io/$$p.gitMajor=1 -X k8s.io/$$p.gitMinor=$${minor%%.*}"; done && \
	  go build -ldflags="-s -w $$set" -o $(@D)/ tool

.PHONY: servers
servers: build packages-test servers-there ## one line of netdyno for each of eighteen servers of others: minutes
	@go run ./test/servers $(if $(ONLY),-only '$(ONLY)')

.PHONY: bench
bench: bench-table ## speed as ratios against peers and against itself without its instruments
	@go run ./peers

# Peers that are in no package of this release, by go and, where it is, cargo. One that
# cannot be had is a line of the table that says so.
PEERS := fortio.org/fortio@v1.63.9 github.com/bojand/ghz/cmd/ghz@v0.120.0 github.com/codesenberg/bombardier@v1.2.6 go.k6.io/k6@v1.8.1
OHA := 1.16.0
.PHONY: bench-peers
bench-peers: go-there
	@mkdir -p $(TOOLS)
	@for p in $(PEERS); do n=$${p%@*}; n=$${n##*/}; [ -x $(TOOLS)/$$n ] || GOFLAGS=-trimpath GOBIN=$(TOOLS) go install $$p || echo "$$n is left out"; done
	@[ -x $(TOOLS)/oha ] || command -v oha >/dev/null || { command -v cargo >/dev/null && echo "building oha, which takes minutes" && \
	  cargo install -q oha --version $(OHA) --locked --root $(CURDIR)/build/oha --no-default-features --features rustls,http3 && \
	  cp build/oha/bin/oha $(TOOLS)/; } || echo "oha is left out"

.PHONY: bench-table
bench-table: build packages-test bench-peers servers-there ## the studies of every wire beside its peers, half an hour; their ratios go into docs/benchmarks.md
	@cd native && cmake --build --preset peers >/dev/null || cmake --build --preset peers
	@mkdir -p build && $(CC) -O2 -Wall -o build/light peers/light/light.c
	@PATH="$(TOOLS):$$PATH" go run ./peers/table -with '$(WITH)' $(or $(ONLY:%=peers/%.yaml),$(wildcard peers/*.yaml))

.PHONY: bench-first
bench-first: build packages-test ## keystrokes and seconds to the first answer, against other tools; as root
	@peers/first/first

.PHONY: truth
truth: build packages-test ## what is known beforehand, held against what netdyno says on this machine, which has nothing else to do: three hours
	@$(GO_TEST) -count=1 -p 1 $(TRUTH)
	@$(GO_TEST) -count=1 -run '^TestTruth' ./cmd/netdyno-worker-net
	@go run ./truth

.PHONY: clean
clean: ## remove what was built
	@rm -rf bin build dist .tools web/node_modules
