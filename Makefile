# Two commands on a fresh machine: `make run` serves the app, `make test` checks everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Processes side by side: test files, each with a browser of its own, and what mypy reads.
JOBS ?= 2
# What an import compiles is kept, whatever a machine says: compiling it again for every process takes longer than a test.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run dev test long early-clicks measure lint check-python chromium warm paper clean

run: $(VENV)/.ready warm
	$(BIN)/streamlit run app.py $(ARGS)

# For people who change the code: runs again when a file is saved.
dev: $(VENV)/.ready warm
	$(BIN)/streamlit run app.py --server.fileWatcherType=auto --server.runOnSave=true $(ARGS)

test:
	$(MAKE) --no-print-directory -j 2 lint chromium warm
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -rfE $(ARGS)

# What takes too long for every change: a cluster that dies under the app, and the like.
long: $(VENV)/.ready-dev chromium warm
	$(BIN)/python -m pytest -m long

# More than seventy clicks on pages that are still being drawn; `make test` makes two.
early-clicks: $(VENV)/.ready-dev chromium warm
	EARLY_CLICK_ROUNDS=6 $(BIN)/python -m pytest -m browser tests/in_browser/test_early_clicks.py

# How the app feels, on a machine that does nothing else.
measure: $(VENV)/.ready-dev chromium warm
	for what in arrivals room playground tradeoff prototypes lesson; do PYTHONPATH=.:tests $(BIN)/python tests/measure/$$what.py; done

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(JOBS)

# Compiles the kernels once per machine, so that nobody waits for it in front of a picture.
warm: $(VENV)/.ready
	$(BIN)/python -m fairglvq warm

# The paper's experiments at full length: minutes for Table 1, the better part of an hour for Figure 2.
paper: $(VENV)/.ready warm
	$(BIN)/python -m fairglvq paper table1
	$(BIN)/python -m fairglvq paper figure2 --dataset compas
	$(BIN)/python -m fairglvq paper figure2 --dataset adult

check-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..."; exit 1; }

# Most of what is installed is never imported, and pip would compile all of it.
$(VENV)/.ready: requirements.txt | check-python
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements.txt
	@touch $@

$(VENV)/.ready-dev: requirements-dev.txt $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements-dev.txt
	@touch $@

# A Chromium for the browser tests: one on PATH, else Debian's package where that is possible, else Playwright's own.
chromium: $(VENV)/.ready-dev
	@if command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && \
		{ apt-get install -y -qq chromium-headless-shell || apt-get install -y -qq chromium; } >/dev/null; \
	else $(BIN)/playwright install chromium; fi

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
