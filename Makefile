# Two commands do everything on a machine with Python 3.11 or newer, pip and make: `make demo` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
COMPILE := $(BIN)/python -m piptools compile -q --strip-extras --no-header --no-annotate --no-emit-index-url \
	--no-emit-trusted-host --no-emit-find-links --no-emit-options

.PHONY: demo test lint types imports unit bench bench-dialogue bench-assistant bench-startup bench-translation bench-audio bench-comet bench-blaser bench-voice bench-duplex bench-live bench-interpreting bench-comparison bench-judge bench-cluster bench-scale coverage lock clean help

help:
	@echo "make demo   install, run the examples into demo-results/"
	@echo "make test   install what the tests need; lint, types, import rules, the whole test suite"
	@echo "make bench  every benchmark; make bench-dialogue, -assistant, -translation, -audio, -comet, -blaser, -voice, -duplex, -live, -interpreting, -comparison, -judge, -cluster, -scale, -startup or coverage: one of them"

demo: $(VENV)/installed-run
	$(BIN)/turnwise demo --out demo-results

test: lint types imports unit

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test
	$(BIN)/mypy

imports: $(VENV)/installed-test
	$(BIN)/lint-imports

unit: $(VENV)/installed-test
	$(BIN)/pytest -n auto

bench: bench-startup bench-dialogue bench-assistant bench-translation bench-audio bench-comet bench-blaser bench-voice bench-duplex bench-live bench-interpreting bench-comparison bench-judge bench-cluster bench-scale coverage

bench-dialogue: $(VENV)/installed-test
	$(BIN)/python benchmarks/dialogue.py

bench-assistant: $(VENV)/installed-test
	$(BIN)/python benchmarks/assistant.py

bench-translation: $(VENV)/installed-test
	$(BIN)/python benchmarks/translation.py

bench-blaser: $(VENV)/installed-test
	$(BIN)/python benchmarks/blaser.py

bench-audio: $(VENV)/installed-test
	$(BIN)/python benchmarks/audio.py

bench-comet: $(VENV)/installed-test
	$(BIN)/python benchmarks/comet.py

bench-voice: $(VENV)/installed-test
	$(BIN)/python benchmarks/voice.py

bench-duplex: $(VENV)/installed-test
	$(BIN)/python benchmarks/duplex.py

bench-live: $(VENV)/installed-test
	$(BIN)/python benchmarks/live.py

bench-interpreting: $(VENV)/installed-test
	$(BIN)/python benchmarks/interpreting.py

bench-comparison: $(VENV)/installed-test
	$(BIN)/python benchmarks/comparison_speed.py
	$(BIN)/python benchmarks/comparison.py
	$(BIN)/python benchmarks/agreement.py

bench-judge: $(VENV)/installed-test
	$(BIN)/python benchmarks/judge.py

bench-cluster: $(VENV)/installed-test
	$(BIN)/python benchmarks/cluster.py

bench-scale: $(VENV)/installed-test
	$(BIN)/python benchmarks/scale.py

bench-startup: $(VENV)/installed-test
	$(BIN)/python benchmarks/startup.py

coverage: $(VENV)/installed-test
	$(BIN)/python benchmarks/coverage.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "turnwise needs Python 3.11 or newer; found $$($(PYTHON) --version). Try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Installing a second time, or with no network, does nothing: the stamps are newer than what they depend on.
$(VENV)/installed-run: requirements/run.txt pyproject.toml | $(VENV)/bin/python
	$(PIP) install -r requirements/run.txt
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/installed-test: requirements/test.txt requirements/neural.txt requirements/dspy.txt requirements/model.txt pyproject.toml | $(VENV)/bin/python
	$(PIP) install -r requirements/test.txt
	$(PIP) install "$$(grep '^torch==' requirements/neural.txt)"
	$(PIP) install --no-deps -r requirements/neural.txt
	$(PIP) install --no-deps -r requirements/dspy.txt
	$(PIP) install --no-deps -r requirements/model.txt
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@ $(VENV)/installed-run

# Pin anew what each environment installs.
lock: $(VENV)/installed-test
	$(PIP) install pip-tools
	$(COMPILE) --extra audio --extra interpreting --extra live --extra report -o requirements/run.txt pyproject.toml requirements/build.in
	$(COMPILE) --extra audio --extra asr --extra interpreting --extra judge --extra live --extra mos --extra postgres --extra parquet --extra report -o requirements/test.txt pyproject.toml requirements/build.in requirements/test.in

clean:
	rm -rf $(VENV) demo-results .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
