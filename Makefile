# Every command installs what it needs (Debian packages through tools/install-packages) and may be repeated.
SHELL := /bin/bash
JOBS ?= $(shell nproc)

.PHONY: help build dev-build demo test unit e2e soak bench format tidy lint install clean

help:
	@echo "make demo    build, start an engine, train Abalone on spot through an interruption, predict"
	@echo "make build   build the release binary: build/release/sabia"
	@echo "make test    build and run every test, with the real SDKs in a virtual environment"
	@echo "make unit    only the C++ tests;  make e2e  only those through the clients"
	@echo "make soak    run simulated clusters from seed SEED on, until one breaks a promise"
	@echo "make bench   measure against the peers (docs/benchmarks.md)"
	@echo "make format  clang-format;  make tidy  the house rules;  make lint  clang-tidy;  make install  PREFIX=/usr/local"
	@echo "make clean   remove build/"

build:
	@tools/install-packages build run
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)
	@ln -sfn src/cli/sabia build/release/sabia

demo: build
	@tools/install-packages demo
	@examples/demo/demo.sh build/release/sabia

dev-build:
	@tools/install-packages build run test
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)
	@ln -sfn src/cli/sabia build/dev/sabia

unit: dev-build
	@ctest --test-dir build/dev -j $(JOBS) --output-on-failure

e2e: dev-build
	@tools/test-clients build/clients
	@build/clients/python/bin/python -m pytest -q -n $(JOBS) tests/e2e --sabia build/dev/sabia

tidy:
	@tools/install-packages test
	@tools/tidy

# clang-tidy over the sources changed since BASE.
BASE ?= origin/main
lint: dev-build
	@git diff --name-only --diff-filter=d $(BASE) -- 'src/*.cc' | xargs -r clang-tidy-14 -p build/dev --quiet

test: tidy unit e2e

# Simulated clusters, seed after seed, until it is stopped or one breaks a promise.
SEED ?= 1
soak: build
	@build/release/src/sim/soak --first $(SEED)

bench: build
	@tools/install-packages bench
	@bench/run build/release build/bench

format:
	@tools/install-packages test
	@git ls-files '*.cc' '*.h' | xargs clang-format-14 -i

PREFIX ?= /usr/local
install: build
	@cmake --install build/release --prefix $(PREFIX)

clean:
	@rm -rf build
