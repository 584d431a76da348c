# Everything that is run by hand or by a machine. The first target that needs .venv makes it, once.

VENV   := .venv
PYTHON := $(VENV)/bin/python
HOST   ?= 127.0.0.1
PORT   ?= 8501
JOBS   ?= 2

.PHONY: setup run test bench bench-gpu pictures lint format chromium

setup: $(VENV)/.app

$(VENV)/bin/pip:
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "KVScope needs Python 3.11 or newer; python3 is $$(python3 --version 2>&1)."; exit 1; }
	@python3 -m venv $(VENV) || { rm -rf $(VENV); echo "Python cannot make a virtual environment; on Debian: apt install python3-venv"; exit 1; }

$(VENV)/.app: requirements.txt | $(VENV)/bin/pip
	@echo "Setting up $(VENV) from requirements.txt ..."
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.tests: tests/requirements.txt $(VENV)/.app
	@echo "Setting up the tests from tests/requirements.txt ..."
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@

# Told by which name it is reached, Streamlit asks no outside service for the address of this machine.
run: $(VENV)/.app
ifeq ($(HOST),127.0.0.1)
	@exec $(PYTHON) -m streamlit run app.py --server.port $(PORT)
else
	@echo "Open to the network: whoever reaches port $(PORT) of this machine can use this app and upload files to it."
	@exec $(PYTHON) -m streamlit run app.py --server.address $(HOST) --server.port $(PORT) --browser.serverAddress $$(uname -n)
endif

chromium: $(VENV)/.tests
	@$(PYTHON) -m tests.browser.chromium

lint: $(VENV)/.tests
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy

format: $(VENV)/.tests
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

test: chromium lint
	$(PYTHON) -m pytest -n $(JOBS) -m "not slow and not browser"
	$(PYTHON) -m pytest -n $(JOBS) --dist loadfile -m "slow or browser"

bench: $(VENV)/.tests
	$(PYTHON) -m tests.bench

# On a machine with CUDA: kernels and whole steps, in at most eight minutes.
bench-gpu: $(VENV)/.tests
	@timeout 480 $(PYTHON) -m tests.bench.gpu

# Every page in both themes and two sizes, to be looked at: ./pictures/*.png
pictures: chromium
	@$(PYTHON) -m tests.pictures pictures
