# The front door: everything a person or CI runs. `make help` lists it.

SHELL := /bin/sh
.DEFAULT_GOAL := help
# The seed, other lengths and faults: `make history ARGS="--help"`.
HISTORY := /usr/bin/python3 -u -B Tests/History

.PHONY: help dev test soak history history-day check bench bench-full cost measure fuzz build deb image release format lint
.PHONY: toolchain packages-build packages-run packages-bench packages-build-tests packages-test packages-deb packages-image packages-release

FUZZ_SECONDS ?= 60
# No index for editors, which make their own: a sixth of the time. Tests/run.sh builds alike, so that nothing is compiled twice.
DEBUG_BUILD := --disable-index-store
# One way to compile for release, so that a benchmark measures the binary that is shipped, and compiles nothing again.
RELEASE_BUILD := BUILD_COMMIT="$$(git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null)$$(git log -1 --format=', %cs' 2>/dev/null)" \
	swift build -c release --static-swift-stdlib
# The library has to be named where the tests have an entry point of their own: without it nothing is run, and nothing said.
SWIFT_TEST := swift test $(DEBUG_BUILD) --enable-swift-testing --disable-xctest
# Suites whose subject is concurrency: `make check` runs them under the thread sanitizer too.
CONCURRENCY_SUITES ?= TelemetryTests|PostgresTests|EventSourcingTests|HTTPServerTests|HTTPClientTests|promises of a log|Admission|CommitHub|commit hub
# Suites that are over in a moment: `make check` runs them.
FAST_SUITES ?= ValuesTests|JSONTests|HTTPTests|HTMLTests|MailTests|EventSourcingTests|IdentityTests|TelemetryTests|CryptographyTests|JOSETests|OneTimeCodesTests|QRCodeTests|CompressionTests|SAMLTests|UrdClientTests|urdTests

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

dev: packages-run ## start Urd with its own PostgreSQL (URD_PORT, URD_DATA; ARGS="--fresh" wipes)
	@swift build $(DEBUG_BUILD) --product urd
	@exec .build/debug/urd dev $(ARGS)

test: packages-build-tests ## build and run every test
	@Tests/run.sh

soak: packages-build-tests ## the tests that are long by nature
	@Tests/run.sh --soak

history: packages-test ## three nodes, many callers and faults for ten minutes, held against the log (ARGS="--seed 7", "--help")
	@swift build $(DEBUG_BUILD) --product urd
	@$(HISTORY) --length 10m $(ARGS)

history-day: packages-test ## the same for a day
	@swift build $(DEBUG_BUILD) --product urd
	@$(HISTORY) --length 1d --disk 6g $(ARGS)

check: lint packages-test ## format, imports, house rules, fast tests, thread sanitizer
	swift build $(DEBUG_BUILD) --build-tests --explicit-target-dependency-import-check error
	$(SWIFT_TEST) --skip-build --filter 'TidyTests|$(FAST_SUITES)'
	TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/thread-sanitizer.txt" \
	$(SWIFT_TEST) --no-parallel --sanitize thread \
		--scratch-path .build/thread-sanitizer \
		--filter '$(CONCURRENCY_SUITES)'

bench: packages-bench ## measure, each figure beside the machine's own limit (six minutes after the build)
	@$(RELEASE_BUILD) --quiet --product urd
	@$(RELEASE_BUILD) --quiet --product urd-bench
	@.build/release/urd-bench --json bench.json $(ARGS)

bench-full: packages-bench ## all figures, with millions of events (half an hour)
	@$(RELEASE_BUILD) --quiet --product urd
	@$(RELEASE_BUILD) --quiet --product urd-bench
	@.build/release/urd-bench --full --json bench.json $(ARGS)

cost: packages-bench ## count the instructions of each operation, beside those on record (ten minutes after the build)
	@$(RELEASE_BUILD) --quiet --product urd
	@$(RELEASE_BUILD) --quiet --product urd-bench
	@.build/release/urd-bench --counts .build/cost $(ARGS)
	@/usr/bin/python3 -B Tests/cost.py .build/cost $(RECORD)

measure: ## count what the code costs to carry
	@/usr/bin/python3 -B Tests/measure.py

fuzz: packages-build ## throw malformed input at every parser (FUZZ_SECONDS each)
	@Tests/Fuzz/run.sh $(FUZZ_SECONDS)

deb: packages-deb ## the Debian package: dist/urd_VERSION_ARCH.deb
	@$(RELEASE_BUILD) --product urd
	@deploy/make-deb.sh .build/release/urd

image: packages-image ## the container image: dist/image, an OCI layout
	@$(RELEASE_BUILD) --product urd
	@deploy/make-image.sh .build/release/urd

release: packages-release ## the package, its bill of materials (SBOM) and their signed sums: dist/release
	@$(RELEASE_BUILD) --product urd
	@deploy/make-release.sh .build/release/urd

build: packages-build ## the release binary: .build/release/urd
	$(RELEASE_BUILD) --product urd

format: toolchain ## lay out every Swift file
	swift format format --in-place --parallel --recursive Package.swift Sources Tests

lint: toolchain ## complain about layout
	swift format lint --strict --parallel --recursive Package.swift Sources Tests

toolchain:
	@deploy/install-packages.sh toolchain

packages-build:
	@deploy/install-packages.sh build

packages-run:
	@deploy/install-packages.sh run

packages-bench:
	@deploy/install-packages.sh bench

packages-build-tests:
	@deploy/install-packages.sh build-tests

packages-test:
	@deploy/install-packages.sh test

packages-deb:
	@deploy/install-packages.sh deb

packages-image:
	@deploy/install-packages.sh image

packages-release:
	@deploy/install-packages.sh release
