# The two commands a newcomer needs: `make demo` and `make test`.
# Everything lives in .venv and target/; nothing that happens to be installed is relied on,
# except Python >= 3.10 (with venv), a Rust toolchain and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
# Thousands of processes import the same modules, and compile them but once: bytecode is kept even where the environment
# forbids it, and where `make clean` finds it.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode
RUST := $(shell find rust -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: help build demo check test test-rust test-python bits campaign lint lint-rust lint-python bench site capi header wheel manylinux clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit("statpriv needs Python 3.10 or newer; set PYTHON=..." if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS) && touch $@

# Python compiles a module when it is first imported; most of what is installed never is.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# The editable installation uses the profile `dev` of Cargo.toml, which the kernel's tests share.
$(STAMPS)/build: $(STAMPS)/venv pyproject.toml $(RUST)
	$(PIP_INSTALL) --editable '.[release]'
	@touch $@

$(STAMPS)/dev $(STAMPS)/campaign $(STAMPS)/site $(STAMPS)/wheels: $(STAMPS)/%: $(STAMPS)/venv pyproject.toml
	$(PIP_INSTALL) --group $*
	@touch $@

build: $(STAMPS)/build  ## .venv with the package and what a release needs

demo: build  ## release exact counts of the example survey into build/demo
	$(BIN)/python -c 'import shutil; shutil.rmtree("build/demo", ignore_errors=True)'
	@mkdir -p build/demo
	$(BIN)/statpriv release examples/election.toml --registry build/demo/registry \
	  --out build/demo/report.html --json build/demo/report.json
	$(BIN)/statpriv verify build/demo/report.json --certificates build/demo/proofs
	$(BIN)/python -I python/statpriv/assurance/checker build/demo/proofs/claim-1.json
	@echo 'Open build/demo/report.html in a browser.'

lint: lint-rust lint-python  ## formatters, linters, types, stubs

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

lint-python: $(STAMPS)/build $(STAMPS)/dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest statpriv._native

# Cargo shares the processors by itself, and would warn that it finds nothing of make's `--jobs` in its examples.
KERNEL_TEST = MAKEFLAGS= cargo test --locked --quiet
PYTEST = $(BIN)/python -m pytest --quiet --dist loadgroup
# $(1) says how the results are computed.
SAME_BITS = $(KERNEL_TEST) --package statpriv-core $(1) --test same_bits
PORTABLE = --features statpriv-simd/portable

# Nine tenths of the time of the kernel's unit tests: each names one, or several by what they have in common.
SLOW_KERNEL_TESTS = same_bits small_compositions_have_the_value where_delta_is_a_bracket no_pattern_is_above_it \
  what_is_left_out_is_within cells_and_answers_say_the_same one_law_dominates_a_gated_part one_property_on_all_entries many_parts_are_enclosed \
  ends_close_around_the_truth patterns_that_hardly_differ means_are_the_sums_of_all_their_terms interruptions eight_parts_by_pattern \
  hundreds_of_different_parts

check: lint  ## while you work: linters, units, and the kernel's quick tests
	$(KERNEL_TEST) --package statpriv-core --lib -- $(addprefix --skip ,$(SLOW_KERNEL_TESTS))
	$(PYTEST) -n 2 tests/unit

test-rust:  ## the kernel's own tests
	$(KERNEL_TEST) --workspace

# Three at once on two cores: many tests wait for a process of their own.
test-python: $(STAMPS)/build $(STAMPS)/dev  ## everything else, doctests and README included
	$(PYTEST) -n 3

bits:  ## store the kernel's results to the last bit anew (CONTRIBUTING.md)
	export STATPRIV_STORE_BITS=1; $(call SAME_BITS) && $(call SAME_BITS,$(PORTABLE))

# Packages are downloaded while the kernel is checked. Types are checked while its tests are compiled, which keeps one core
# busy; then Python's tests take the other.
test:  ## every check that a change must pass (a quarter of an hour from nothing, on two cores)
	$(MAKE) --jobs 2 --output-sync=target lint-rust $(STAMPS)/dev
	$(MAKE) build
	$(MAKE) --jobs 2 --output-sync=target lint-python test-rust test-python

# Everything that takes minutes, or needs more than `make test` installs: Spark, wheels, a browser for every kind of
# report, a thousand kills, simulations and searches with many more cases, every enclosure against the oracle, the fuzz
# bodies, and the crates outside the workspace.
campaign: export STATPRIV_CAMPAIGN = 1
campaign: $(STAMPS)/build $(STAMPS)/dev $(STAMPS)/campaign  ## what a release must pass besides: `tests/README.md` (hours)
	cargo check --quiet --locked --manifest-path benches/rust/Cargo.toml --all-targets --target-dir target
	cargo check --quiet --locked --manifest-path fuzz/Cargo.toml --target-dir target
	$(HEADER) -- --check
	$(KERNEL_TEST) --workspace
	$(call SAME_BITS,$(PORTABLE))
	$(PYTEST) -n 2 -m 'campaign or not campaign'
	$(BIN)/python -m tests.oracle.campaign --cases 1000000 --processes 2 $(if $(STATPRIV_SEED),--seed $(STATPRIV_SEED)) --store
	cargo run --quiet --release --locked --manifest-path fuzz/Cargo.toml --target-dir target/fuzz -- 10000000 $(STATPRIV_SEED)

HEADER = cargo run --quiet --locked --manifest-path rust/capi/header/Cargo.toml --target-dir target/header

KERNEL_BENCH = CRITERION_HOME=$(CURDIR)/target/benches/criterion cargo bench --locked --manifest-path benches/rust/Cargo.toml --target-dir target/benches
QUICKLY = --noplot --warm-up-time 0.2 --measurement-time 1 --sample-size 50

# Users get the full profile, so that is what is timed. `make build` puts the profile for development back later.
bench: $(STAMPS)/build  ## time every tier and the peers, into docs/performance.md
	$(PIP_INSTALL) --group bench
	rm $(STAMPS)/build
	$(PIP_INSTALL) --no-deps --config-settings=build-args='--profile release' --editable .
	rm -rf target/benches/criterion
	$(KERNEL_BENCH) -- $(QUICKLY)
	$(KERNEL_BENCH) --features portable -- $(QUICKLY) 'delta \('
	$(BIN)/python -m benches.python.side_by_side --write

site: $(STAMPS)/build $(STAMPS)/site  ## the documentation as a site in build/site, one folder a page
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo 'Serve build/site, or open build/site/index.html.'

# Where the C door is installed; DESTDIR stands before it, for packages.
PREFIX ?= /usr/local
CAPI_PROFILE ?= release
CAPI_VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
CAPI_BUILT = target/$(if $(filter dev,$(CAPI_PROFILE)),debug,$(CAPI_PROFILE))
CAPI_LIB = $(DESTDIR)$(PREFIX)/lib

capi:  ## the C library and its header, into PREFIX (/usr/local)
	cargo build --quiet --locked --package statpriv-c --profile $(CAPI_PROFILE)
	install -d $(CAPI_LIB)/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -m 644 rust/capi/include/statpriv.h $(DESTDIR)$(PREFIX)/include/
	install -m 755 $(CAPI_BUILT)/libstatpriv_c.so $(CAPI_LIB)/libstatpriv.so.$(CAPI_VERSION)
	install -m 644 $(CAPI_BUILT)/libstatpriv_c.a $(CAPI_LIB)/libstatpriv.a
	ln -sf libstatpriv.so.$(CAPI_VERSION) $(CAPI_LIB)/libstatpriv.so.1
	ln -sf libstatpriv.so.1 $(CAPI_LIB)/libstatpriv.so
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(CAPI_VERSION)|' rust/capi/statpriv.pc.in > $(CAPI_LIB)/pkgconfig/statpriv.pc

header:  ## the header of the C library, made from its source
	$(HEADER)

wheel: $(STAMPS)/venv  ## an abi3 wheel in dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

# zig links against the libc of 2014, so that the wheel runs on every Linux since then.
manylinux: $(STAMPS)/wheels  ## the wheel for old systems in dist/, audited: what a release ships for Linux
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m maturin build --quiet --release --locked --zig --compatibility manylinux2014 --out dist
	$(BIN)/python -m abi3audit --strict dist/statpriv-*-manylinux*.whl

clean:  ## remove everything that was built
	rm -rf $(VENV) build dist target
