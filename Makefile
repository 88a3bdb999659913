# The commands of this project. Everything runs on the Node that the package `node` brings, whatever the machine has.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

TESTS = $(sort $(shell find test -name '*.test.ts'))
INSTALLED := node_modules/.installed

.PHONY: help run test dev build openapi docs kills bench clean types lint format unit install

help: ## what each target does
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# No script of a package runs but the one that puts Node in place: the database driver's would look for a compiler
# that its prebuilt binary does not need.
$(INSTALLED): package.json package-lock.json
	@command -v npm > /dev/null || { echo 'npm is missing: install Node 20 or newer with its npm.' >&2; exit 2; }
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	npm rebuild node --loglevel=error
	@touch $@

install: $(INSTALLED) ## install what is missing

run: $(INSTALLED) ## serve the demo data on http://127.0.0.1:8080, creating it when there is none
	@node src/main.ts seed --if-empty
	@exec node src/main.ts serve

dev: $(INSTALLED) ## serve, and start anew on every change of the code
	@npm run -s dev

test: $(INSTALLED) types lint unit ## type check, lint and format check, tests with coverage

types: $(INSTALLED)
	tsc -p .

lint: $(INSTALLED)
	npm run -s lint

unit: $(INSTALLED)
	@test -n '$(TESTS)' || { echo 'No tests found.' >&2; exit 1; }
	@# Of a function that comes out of the compile cache, V8 does not count the lines. Three files at a time on two cores:
	@# many wait for processes that they have started.
	NODE_DISABLE_COMPILE_CACHE=1 c8 node --test --test-concurrency=3 $(TESTS)

format: $(INSTALLED) ## format the code and mend what the linter can
	npm run -s format

build: $(INSTALLED) ## compile to dist/, ready for npm pack
	npm run -s build

openapi: $(INSTALLED) ## write openapi.json from the routes
	npm run -s openapi

docs: $(INSTALLED) ## write the tables of the documents from the declarations
	npm run -s docs

kills: $(INSTALLED) ## kill the service 50 times during payments and merges, and look for what was lost
	node test/kills/main.ts

bench: $(INSTALLED) ## measure lookups, pages, writes and imports beside the peers; needs wrk
	@command -v wrk > /dev/null || { echo 'wrk is missing: apt-get install wrk' >&2; exit 2; }
	npm ci --prefix bench/peers --ignore-scripts --no-audit --no-fund --loglevel=error
	node bench/main.ts
	node bench/picture.ts > /dev/null

clean: ## remove what was installed, built and measured; the database stays
	rm -rf node_modules bench/peers/node_modules dist coverage bench/.cache *.tgz
