# Two commands matter: `make demo` and `make test`. Both do all the set-up they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# or each process of the tests compiles what it imports anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-full test campaign check bench docs dist wheel containers sbom advisories clean

# Light: no torch. What it prints to try begins with `argus`, which is $(BIN)/argus.
demo: $(VENV)/.installed-light
	$(BIN)/argus demo --out argus-demo
	@echo "argus is $(BIN)/argus here"

# Every job, on the whole standard library: minutes, and torch.
demo-full: $(VENV)/.installed
	$(BIN)/argus demo --full --out argus-demo-full
	@echo "argus is $(BIN)/argus here"

# Two processes on two cores: a third would load, and embed, much of it again.
test: $(VENV)/.installed-dev check
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 8

# The same tests with thirty times as many examples of each property: hours.
campaign: $(VENV)/.installed-dev
	ARGUS_EXAMPLES=10 OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed-dev
	OMP_NUM_THREADS=2 $(BIN)/python -m benchmarks

# The site of docs/ in site/, strict: a link that leads nowhere is an error.
docs: $(VENV)/.installed-docs
	$(BIN)/mkdocs build --clean --quiet

# What goes to an index: both archives, and whether their metadata is whole (docs/releasing.md).
dist: $(VENV)/.installed-dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/python scripts/check_release.py

# The light wheel, installed alone and used on every Python that is named and here; and what it and
# each of EXTRAS costs: seconds, megabytes, and how long commands take to start (docs/install.md);
# UV=--uv installs by uv.
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
EXTRAS ?=
UV ?=
wheel: dist
	$(BIN)/python scripts/fresh.py dist/*.whl $(UV) $(PYTHONS:%=--python %) $(EXTRAS:%=--extra %)

# Whether the container files are well formed and every path in them is there. Nothing is built.
containers: $(VENV)/.installed-dev
	$(BIN)/python scripts/check_containers.py

# What comes with Argus: the bill of materials (CycloneDX), and each package's licence.
sbom: $(VENV)/.installed-dev
	$(BIN)/python scripts/bill_of_materials.py sbom.json
	$(BIN)/python scripts/bill_of_materials.py > licences.txt

# Known weaknesses of what is pinned. Asks the index for each package: needs a network.
advisories: $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)-advisories
	$(VENV)-advisories/bin/pip install -q pip-audit
	$(VENV)-advisories/bin/pip-audit --strict --requirement constraints.txt --no-deps --disable-pip

clean:
	rm -rf $(VENV) argus-demo argus-demo-full build dist site sbom.json licences.txt

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-light: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing Argus without torch into $(VENV): 0.4 GB, about half a minute"
	$(BIN)/pip install -q --no-compile -c constraints.txt -e .
	@touch $@

# torch first and by itself: the pinned version is the CPU build. Modules are compiled when they are
# first imported (--no-compile): most of these libraries never are.
$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing PyTorch and friends into $(VENV): about 2.5 GB, a minute or two"
	$(BIN)/pip install -q --no-compile -c constraints.txt torch==2.13.0
	$(BIN)/pip install -q --no-compile -c constraints.txt -e ".[torch,probes]"
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/pip install -q --no-compile -c constraints.txt 'mkdocs-material>=9.8' 'mkdocstrings[python]>=1.0'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install -q --no-compile -c constraints.txt -e ".[torch,probes,distill,files,kb,ray,stores,mcp,dev]"
	@touch $@
