# The commands of this project. Everything runs on the Node that the package `node` brings, whatever the machine has.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

# Long tests are called *.long.test.ts: those that kill, wait or pack.
TESTS := $(sort $(shell find test -name '*.test.ts'))
LONG := $(filter %.long.test.ts,$(TESTS))
# These need a browser.
PAGES := $(filter test/pages/%,$(TESTS))
QUICK := $(filter-out $(LONG) $(PAGES),$(TESTS))
# These take more random cases and larger files among the long tests.
SIZED := $(if $(QUICK),$(shell grep -l quick-or-long.ts $(QUICK)))
# Coverage counts each block that runs, which makes loops up to eight times slower: tests that repeat much run without.
REPEATING := $(if $(QUICK),$(shell grep -lE "fast-check|quick-or-long.ts|histories.ts|'seed'|data/seed" $(QUICK)))
COUNTED := $(filter-out $(REPEATING),$(QUICK))
# The tests of a group run in one process, which loads the code once; each group takes every n-th file.
COUNTED_GROUPS := $(addprefix counted-,0 1 2 3 4 5 6 7 8 9)
REPEATING_GROUPS := $(addprefix repeating-,0 1)
GROUPS := $(REPEATING_GROUPS) $(COUNTED_GROUPS)
UNIT := $(GROUPS)
# Each commit of a test waits for its disk: files in memory make the tests faster, where there is room for them.
MEMORY := $(shell df --output=avail /dev/shm 2> /dev/null | awk 'NR > 1 && $$1 > 2000000 { print "/dev/shm" }')
TEST_ENVIRONMENT = NODE_COMPILE_CACHE=$(CURDIR)/node_modules/.cache/compiled-code $(if $(MEMORY),TMPDIR=$(MEMORY))
INSTALLED := node_modules/.installed

.PHONY: help run test test-long test-pages test-mirror pictures dev build openapi docs torture histories duplicates country bench advisories release clean types lint format unit coverage install $(GROUPS)

help: ## what each target does
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# No script of a package runs but the one that puts Node in place: the database driver's would look for a compiler
# that its prebuilt binary does not need.
$(INSTALLED): package.json package-lock.json
	@command -v npm > /dev/null || { echo 'npm is missing: install Node 20 or newer with its npm.' >&2; exit 2; }
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	npm rebuild node --loglevel=error
	@touch $@

install: $(INSTALLED) ## install what is missing

# Both get the Ctrl-C of a terminal; a signal to make goes to the service, and the desk ends with it.
run: $(INSTALLED) ## serve the demo data on http://127.0.0.1:8080, creating it when there is none, and open the desk beside it
	@node src/main.ts seed --if-empty
	@node src/main.ts serve & serve=$$!; node src/main.ts desk & desk=$$!; status=0; \
		trap : INT; trap 'kill $$serve' TERM; wait $$serve || status=$$?; \
		while kill -0 $$serve 2> /dev/null; do status=0; wait $$serve || status=$$?; done; \
		kill $$desk 2> /dev/null || :; wait $$desk || :; exit $$status

dev: $(INSTALLED) ## serve, and restart on every change of the code
	@npm run -s dev

test: $(INSTALLED) ## type check, lint and format check, quick tests
	@$(MAKE) --no-print-directory unit UNIT='$(GROUPS) lint types'

test-long: $(INSTALLED) ## the tests that kill, wait or pack, and more random cases
	@test -n '$(LONG)' || { echo 'No long tests found.' >&2; exit 1; }
	LONG_TESTS=1 timeout --kill-after=5 3600 node --test --test-concurrency=2 --test-timeout=900000 $(LONG) $(SIZED)

test-pages: $(INSTALLED) ## the pages in Chromium: narrow, wide, light, dark, by axe; PICTURES=folder keeps pictures
	@command -v chromium > /dev/null || { echo 'Chromium is missing: apt-get install chromium' >&2; exit 2; }
	tsc -p test/pages
	timeout --kill-after=5 900 node --test --test-concurrency=2 --test-timeout=300000 $(PAGES)

# The mirror's own packages, which neither the service nor its other tests need.
POSTGRES := $(wildcard /usr/lib/postgresql/*/bin/initdb)
MIRROR_INSTALLED := deploy/mirror/node_modules/.installed
$(MIRROR_INSTALLED): deploy/mirror/package.json deploy/mirror/package-lock.json
	npm ci --prefix deploy/mirror --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

test-mirror: $(INSTALLED) $(if $(POSTGRES),$(MIRROR_INSTALLED)) ## the mirror in PostgreSQL beside a registry, with kills of both
	@if [ -z '$(POSTGRES)' ]; then \
		echo 'PostgreSQL is missing, so the mirror was not tested: apt-get install postgresql'; \
	else tsc -p deploy/mirror && \
		timeout --kill-after=5 900 node --test --test-timeout=600000 deploy/mirror/test/*.test.ts; fi

pictures: $(INSTALLED) ## take the pictures of README and documents, docs/pictures/, from the demo data
	@command -v chromium > /dev/null || { echo 'Chromium is missing: apt-get install chromium' >&2; exit 2; }
	node test/pages/pictures.ts

types: $(INSTALLED)
	tsc -p .

lint: $(INSTALLED)
	npm run -s lint

unit: $(INSTALLED)
	@test -n '$(COUNTED)' -a -n '$(REPEATING)' || { echo 'No tests found.' >&2; exit 1; }
	@test $$(find test src -name '*.test.*' | wc -l) = $(words $(TESTS)) || { \
		echo 'There is a test that no target runs: tests are called test/**/*.test.ts.' >&2; exit 1; }
	@# Three groups at a time on two cores: some tests wait.
	$(TEST_ENVIRONMENT) $(MAKE) --no-print-directory --jobs=3 --keep-going --output-sync $(UNIT)

coverage: $(INSTALLED) ## the quick tests, and how much of the code they reach
	c8 $(MAKE) --no-print-directory unit

$(COUNTED_GROUPS): FILES := $(COUNTED)
$(COUNTED_GROUPS): NUMBER := $(words $(COUNTED_GROUPS))
# Of a function that comes out of the compile cache, V8 does not count the lines.
$(COUNTED_GROUPS): export NODE_DISABLE_COMPILE_CACHE := $(if $(NODE_V8_COVERAGE),1)
$(REPEATING_GROUPS): FILES := $(REPEATING)
$(REPEATING_GROUPS): NUMBER := $(words $(REPEATING_GROUPS))
$(REPEATING_GROUPS): export NODE_V8_COVERAGE :=
$(GROUPS):
	@timeout --kill-after=5 600 node --test --test-isolation=none --test-timeout=60000 \
		$$(printf '%s\n' $(FILES) | awk 'NR % $(NUMBER) == $(lastword $(subst -, ,$@))')

format: $(INSTALLED) ## format, and fix what the linter can fix
	npm run -s format

build: $(INSTALLED) ## compile to dist/, ready for npm pack
	npm run -s build

openapi: $(INSTALLED) ## write openapi.json from the routes
	npm run -s openapi

docs: $(INSTALLED) ## write the tables of the documents from the declarations
	npm run -s docs

torture: $(INSTALLED) ## kill, cut the power, and fill and break the disk, and write what was lost to bench/results/torture.md
	node test/torture/main.ts --out bench/results/torture.md

histories: $(INSTALLED) ## try 500 new random histories of all operations; a failure prints how to repeat it
	HISTORY_RUNS=500 node --test --test-timeout=3600000 test/store/random-history/random-history.long.test.ts

duplicates: $(INSTALLED) ## count how many double registrations `duplicates` finds among 1,000,000 invented members
	node bench/duplicates.ts

country: $(INSTALLED) ## import and measure a registry of 46,000,000 invented members (MEMBERS=4600000 for fewer); needs wrk
	@command -v wrk > /dev/null || { echo 'wrk is missing: apt-get install wrk' >&2; exit 2; }
	node bench/country.ts $(if $(MEMBERS),--members $(MEMBERS)) $(if $(ONLY),--only $(ONLY))
	node test/support/document-tables.ts

bench: $(INSTALLED) ## measure lookups, pages, writes and imports beside the peers; needs wrk
	@command -v wrk > /dev/null || { echo 'wrk is missing: apt-get install wrk' >&2; exit 2; }
	npm ci --prefix bench/peers --ignore-scripts --no-audit --no-fund --loglevel=error
	node bench/main.ts
	node bench/picture.ts > /dev/null

advisories: $(INSTALLED) ## look up known faults of the locked packages, where the package registry answers
	@node test/release/advisories.ts

release: $(INSTALLED) ## make what a release consists of in release/, from a commit, tested and tried; UNTESTED=1 leaves the suites out
	node test/release/make-release.ts $(if $(UNTESTED),--untested)

clean: ## remove what was installed, built and measured; the database stays
	rm -rf node_modules bench/peers/node_modules deploy/mirror/node_modules dist coverage bench/.cache release *.tgz
