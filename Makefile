# The two commands a newcomer needs: `make demo` and `make test`.
# Everything lives in .venv and target/; nothing that happens to be installed is relied on,
# except Python >= 3.10 (with venv), a Rust toolchain and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
RUST := $(shell find rust -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: help build demo test test-rust test-python bits campaign lint bench wheel clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit("statpriv needs Python 3.10 or newer; set PYTHON=..." if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build: $(STAMPS)/venv pyproject.toml $(RUST)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@

$(STAMPS)/dev: $(STAMPS)/venv pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

build: $(STAMPS)/build  ## .venv with the package (release profile) and its extras

demo: build  ## release exact counts of the example survey into build/demo
	$(BIN)/python -c 'import shutil; shutil.rmtree("build/demo", ignore_errors=True)'
	@mkdir -p build/demo
	$(BIN)/statpriv release examples/election.toml --registry build/demo/registry \
	  --out build/demo/report.html --json build/demo/report.json
	$(BIN)/statpriv verify build/demo/report.json --certificates build/demo/proofs
	$(BIN)/python -I python/statpriv/assurance/checker build/demo/proofs/claim-1.json
	@echo 'Open build/demo/report.html in a browser.'

lint: $(STAMPS)/build $(STAMPS)/dev  ## formatters, linters, types, stubs
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo check --quiet --locked --manifest-path benches/rust/Cargo.toml --all-targets --target-dir target
	cargo check --quiet --locked --manifest-path fuzz/Cargo.toml --target-dir target
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest statpriv._native

KERNEL_TEST = cargo test --package statpriv-core --locked --quiet
# $(1) says how the results are computed.
SAME_BITS = $(KERNEL_TEST) $(1) --test same_bits
PORTABLE = --features statpriv-simd/portable

test-rust:  ## the kernel's own tests
	cargo test --workspace --locked --quiet

# Three at once on two cores: many tests wait for a process of their own.
test-python: $(STAMPS)/build $(STAMPS)/dev  ## everything else, doctests and README included
	$(BIN)/python -m pytest -n 3 --dist loadgroup --quiet

bits:  ## store the kernel's results to the last bit anew (CONTRIBUTING.md)
	export STATPRIV_STORE_BITS=1; $(call SAME_BITS) && $(call SAME_BITS,$(PORTABLE))

test: lint test-rust test-python  ## every check that a change must pass

campaign: $(STAMPS)/build $(STAMPS)/dev  ## 10^6 enclosures against the oracle, 10^7 executions of the fuzz bodies, 10^5 comparisons of tiers (hours)
	$(call SAME_BITS,$(PORTABLE))
	$(BIN)/python -m tests.oracle.campaign --cases 1000000 --processes 2 $(if $(STATPRIV_SEED),--seed $(STATPRIV_SEED)) --store
	cargo run --quiet --release --locked --manifest-path fuzz/Cargo.toml --target-dir target/fuzz -- 10000000 $(STATPRIV_SEED)
	STATPRIV_TIMES=50 $(BIN)/python -m pytest -n 2 --quiet tests/properties/test_tiers.py
	$(BIN)/python -m pytest -n 2 --dist loadgroup --quiet -m campaign

KERNEL_BENCH = CRITERION_HOME=$(CURDIR)/target/benches/criterion cargo bench --locked --manifest-path benches/rust/Cargo.toml --target-dir target/benches
QUICKLY = --noplot --warm-up-time 0.2 --measurement-time 1 --sample-size 50

bench: $(STAMPS)/build  ## time every tier and the peers, into docs/performance.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	rm -rf target/benches/criterion
	$(KERNEL_BENCH) -- $(QUICKLY)
	$(KERNEL_BENCH) --features portable -- $(QUICKLY) 'delta \('
	$(BIN)/python -m benches.python.side_by_side --write

wheel: $(STAMPS)/venv  ## an abi3 wheel in dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

clean:  ## remove everything that was built
	rm -rf $(VENV) build dist target
