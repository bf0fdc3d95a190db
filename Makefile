# stopwatt: `make demo` runs the main job, `make test` every test.

ARCHITECTURES := amd64 arm64 arm
AGENTS  := $(ARCHITECTURES:%=cmd/stopwatt/agents/stopwatt-agent-linux-%)
SOURCES := $(shell git ls-files '*.go' go.mod go.sum migrations)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
STATIC  := -trimpath -ldflags '-s -w'
STATIC_STOPWATT := -trimpath -tags agents -ldflags '-s -w -X main.version=$(VERSION)'

.PHONY: build binaries demo test installed bench lint fuzz soak clean

build: bin/stopwatt

bin/stopwatt: $(SOURCES) $(AGENTS)
	go build -trimpath -tags agents -ldflags '-X main.version=$(VERSION)' -o $@ ./cmd/stopwatt

# One file for each architecture, which wants nothing of the machine that it is copied to.
binaries: $(ARCHITECTURES:%=bin/stopwatt-linux-%)

bin/stopwatt-linux-%: $(SOURCES) $(AGENTS)
	CGO_ENABLED=0 GOOS=linux GOARCH=$* GOARM=7 go build $(STATIC_STOPWATT) -o $@ ./cmd/stopwatt

cmd/stopwatt/agents/stopwatt-agent-linux-%: $(SOURCES)
	CGO_ENABLED=0 GOOS=linux GOARCH=$* GOARM=7 go build $(STATIC) -o $@ ./cmd/stopwatt-agent

# The web-servers suite, a few rounds. Official base images where a registry
# answers, stand-ins built here where none does.
demo: installed bin/stopwatt
	STOPWATT_BASES="$$(docker/base/ensure.sh)" bin/stopwatt run suites/web-servers --profile short

# Every test, those that need Docker and Postgres too. Last and alone those that
# play a machine or a server in real time, which others' load would disturb.
test: installed
	STOPWATT_BASES="$$(docker/base/ensure.sh)" go test -race -timeout 60m ./...
	STOPWATT_QUIET=yes go test -count=1 -p 1 -run Joules ./meter ./cmd/stopwatt
	STOPWATT_QUIET=yes go test -count=1 -run 'ServersOwnLog|ConstantRateIsKept' ./agent

# What a new machine lacks beyond Go, git and Docker.
installed:
	.ci/install

# Ratios measured side by side in one run: what a trial costs beside docker run, a
# command's time beside hyperfine's where that is installed,
# the driver beside wrk, ab, siege, h2load and vegeta where they are installed, and
# beside net/http at servers that are their own limit, the sampler. Last the
# simulated table of verdicts, which takes half an hour of one core.
bench: installed
	go test -run '^$$' -bench 'BenchmarkTrial|BenchmarkCommand' -benchtime 1x ./cmd/stopwatt
	go test -run '^$$' -bench . -benchtime 10x -timeout 60m ./agent
	go test -run '^$$' -bench . ./meter
	go test -run '^$$' -bench Verdicts -benchtime 10000x -timeout 3h ./regression
	go test -run '^$$' -bench ChangePoints -benchtime 1x -timeout 3h ./regression
	go test -run '^$$' -bench FindChanges ./regression
	go test -run '^$$' -bench Ingest -benchtime 5x ./storage
	go test -run '^$$' -bench WidePages -benchtime 1x -timeout 3h ./storage

# Every fuzz target, one after another, each for so long. What falls over is kept
# below testdata/fuzz, where go test runs it from then on.
FUZZTIME ?= 20s

fuzz: installed
	.ci/fuzz $(FUZZTIME)

# A small suite for so long, with a server beside it that is asked for pages: memory,
# descriptors, goroutines, containers, spool and connections must be level.
SOAK ?= 30m

soak: installed
	go test -count=1 -run '^TestSoak$$' -timeout 0 -v ./cmd/stopwatt -args -soak $(SOAK)

# Staticcheck is run at a fixed version and is no dependency of this module: who
# builds or tests stopwatt never fetches it.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

lint:
	test -z "$$(gofmt -l .)"
	go vet ./...
	go run $(STATICCHECK) ./...

clean:
	rm -rf bin cmd/stopwatt/agents/stopwatt-agent-*
