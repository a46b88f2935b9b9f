# The students' commands and the set-up; `make` alone lists them. The commands of teachers and
# developers, with the stamps that only they need (.venv/class.stamp, .venv/dev.stamp), are in
# teachers.mk, which the students' copy does not have.
#
# Works with GNU make 3.81 and newer. All paths are relative, and values go to the shell through
# the environment, so that a folder or a value with spaces is safe.

PYTHON ?= python3
PY := .venv/bin/python

# Tells the grader to answer in words of make: DEVICE=gpu, not --device gpu.
export GRADER_WORDS = make

# What a command was called with, for its recipe: EX="$$EX" rather than text inside the recipe.
TAKEN = PYTHON EX SHAPE DEVICE SEED SUBMISSION OUTPUT WHEELHOUSE PYTHON_VERSION MACHINE
TAKEN += RESULT FROM FILE KERNEL GRID BLOCK ARGS SHARED LINE SVG SWEEP SYSTEM_PACKAGES

CASE = $${EX:+--exercise "$$EX"} $${SHAPE:+--shape="$$SHAPE"}
PLACE = $${DEVICE:+--device "$$DEVICE"} $${SEED:+--seed "$$SEED"}
LAUNCH = $${KERNEL:+--kernel "$$KERNEL"} $${GRID:+--grid "$$GRID"} $${BLOCK:+--block "$$BLOCK"} \
	$${ARGS:+--args "$$ARGS"} $${SHARED:+--shared "$$SHARED"}
# Not ${NAME:?...}, which has the shell say its own name and line first.
need = test -n "$$$(1)" || { echo "$(2)" >&2; exit 2; }
PICTURE = $${LINE:+--line "$$LINE"} $${SVG:+--svg "$$SVG"}

-include teachers.mk

export $(TAKEN)

# A misspelt variable would be ignored in silence, and another folder graded than was meant. What a
# make above this one was called with is passed on to here, and may be for others.
OTHERS = PY PARALLEL MAKE% SHELL CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS V VERBOSE
OTHERS += PATH HOME TMPDIR LANG LC_% LD_% TERM COLUMNS NO_COLOR CUDA% NVCC% NVIDIA_% OMP_% SLURM_%
OTHERS += PYTHONPATH PYTEST_ADDOPTS PIP_% UV_% GIT_% XDG_% %_proxy %_PROXY
ifeq ($(MAKELEVEL),0)
UNKNOWN := $(strip $(foreach name,$(filter-out $(TAKEN) $(OTHERS),$(.VARIABLES)), \
	$(if $(filter command,$(origin $(name))),$(name))))
endif
ifneq ($(UNKNOWN),)
$(or $(MAKECMDGOALS),help) .venv/base.stamp: known
endif
NEAREST = import difflib, sys; print(*difflib.get_close_matches(sys.argv[1].upper(), sys.argv[2:], 1, 0.7))

.DEFAULT_GOAL := help
.PHONY: help test run inspect bench sweep grade verify starter update restore
.PHONY: doctor nvcc setup wheelhouse clean known

known:
	@for name in $(UNKNOWN); do \
		near=$$("$$PYTHON" -c '$(NEAREST)' "$$name" $(TAKEN) 2>/dev/null); \
		echo "$$name is not known.$${near:+ Did you mean $$near?} Next: make lists what each command takes; a variable for other programs goes before it: $$name=... make" >&2; \
	done; exit 2

help:
	@echo "Grading of CUDA matrix multiplication. Read exercises/, edit starter/, then:"
	@awk -F ':.*## ' '/^## / { print ""; print substr($$0, 4) } \
		/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 } END { print "" }' $(MAKEFILE_LIST)
	@echo "EX is an exercise (02_tiled, 02 or tiled), SHAPE is MxNxK, DEVICE is auto, simulator or gpu."

## Students

test: .venv/gpu.stamp ## check your files [SUBMISSION=starter] [EX=tiled] [SHAPE=33x17x65] [DEVICE=...] [SEED=n]
	@"$(PY)" -m grader test $(CASE) $(PLACE) $${SUBMISSION:+"$$SUBMISSION"}

run: .venv/gpu.stamp ## launch once, print A, B, C and the kernel's printf: EX=tiled SHAPE=3x3x3 [SUBMISSION=starter] [DEVICE=...]
	@"$(PY)" -m grader run $(CASE) $(PLACE) $${SUBMISSION:+"$$SUBMISSION"}

inspect: .venv/base.stamp ## what each line costs in memory traffic: EX=tiled SHAPE=97x97x97 [SUBMISSION=starter] or FILE=any.cu KERNEL= GRID= BLOCK= ARGS= [LINE=28 SVG=out.svg]
	@"$(PY)" -m grader inspect $${FILE:+"$$FILE"} $${SUBMISSION:+"$$SUBMISSION"} $(CASE) $(LAUNCH) $(PICTURE) $${SEED:+--seed "$$SEED"}

bench: .venv/gpu.stamp ## how fast your kernel is, with a plot: EX=tiled [SHAPE=4096x4096x4096] [DEVICE=...] [SUBMISSION=starter] [SVG=out.svg]
	@"$(PY)" -m grader bench $(CASE) $(PLACE) $${SVG:+--svg "$$SVG"} $${SUBMISSION:+"$$SUBMISSION"}

sweep: .venv/gpu.stamp ## other tile sizes side by side, the best marked: EX=tiled [SWEEP="TILE=8,16,32"] [SHAPE=2048x2048x2048] [SUBMISSION=starter] [DEVICE=...]
	@"$(PY)" -m grader sweep $(CASE) $(PLACE) $${SWEEP:+--values "$$SWEEP"} $${SUBMISSION:+"$$SUBMISSION"}

grade: .venv/gpu.stamp ## score, report, result files [SUBMISSION=starter] [EX=tiled] [SEED=n] [DEVICE=...] [OUTPUT=results]
	@"$(PY)" -m grader grade "$${SUBMISSION:-starter}" $${EX:+--exercise "$$EX"} $(PLACE) \
		--output "$${OUTPUT:-results}"

verify: .venv/gpu.stamp ## repeat a grading from its record, is it the same? RESULT=results/results.json SUBMISSION=dir
	@$(call need,RESULT,Name a record: make verify RESULT=results.json SUBMISSION=dir)
	@$(call need,SUBMISSION,Name what was graded: make verify RESULT=results.json SUBMISSION=dir)
	@"$(PY)" -m grader verify "$$RESULT" "$$SUBMISSION"

starter: .venv/base.stamp ## write a missing file of starter/ anew; a file with work in it stays
	@"$(PY)" -m grader starter

update: .venv/base.stamp ## take a newer hand-out; starter/ stays as it is: FROM=folder or git address
	@$(call need,FROM,Give the hand-out: make update FROM=folder or git address)
	@"$(PY)" -m grader update "$$FROM"

restore: .venv/base.stamp ## undo changes to everything but starter/
	@"$(PY)" -m grader restore

## Set-up

doctor: .venv/gpu.stamp ## what this machine can grade, what is missing, and what mends it
	@"$(PY)" -m grader doctor

nvcc: .venv/base.stamp ## install NVIDIA's compiler into .venv, for machines without a CUDA toolkit (130 MB)
	@echo "Installing NVIDIA's compiler, 130 MB ..."
	@"$(PY)" -m pip $(INSTALL) -r requirements/nvcc.txt || $(NOT_INSTALLED)
	@echo "nvcc is installed. It now decides what compiles, and for which GPUs: make test, make inspect EX=tiled"

setup: ## create .venv anew [PYTHON=python3] [WHEELHOUSE=folder] [SYSTEM_PACKAGES=1]
	@$(MAKE) --no-print-directory ANEW=yes .venv/gpu.stamp

wheelhouse: .venv/base.stamp ## wheels for a Linux machine without a network [PYTHON_VERSION=3.12] [MACHINE=x86_64]
	@"$(PY)" -m grader.packages wheelhouse --output "$${WHEELHOUSE:-wheelhouse}" \
		$${PYTHON_VERSION:+--python-version "$$PYTHON_VERSION"} $${MACHINE:+--machine "$$MACHINE"}

clean: ## remove .venv and every cache
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find grader tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The set-up itself. A stamp is touched when its step is done, so an interrupted one starts again.

# `make wheelhouse` fills the folder that everything else installs from.
ifeq ($(filter wheelhouse,$(MAKECMDGOALS)),)
OFFLINE = $${WHEELHOUSE:+--no-index --find-links "$$WHEELHOUSE"}
endif
INSTALL = install --quiet --no-input --disable-pip-version-check --require-hashes $(OFFLINE)
NOT_INSTALLED = { echo "Packages could not be installed (pip's reason is above). Without a network: 'make wheelhouse' on a machine that has one, then here: make setup WHEELHOUSE=folder" >&2; exit 2; }

# pip reads this file in .venv: whatever a later command installs comes from the same folder.
REMEMBER = import os, pathlib; pathlib.Path(".venv/pip.conf").write_text("[global]\nno-index = true\n" \
	"find-links = " + pathlib.Path(os.environ["WHEELHOUSE"]).resolve().as_uri() + "\n")

.venv/base.stamp: requirements/base.txt
	@command -v "$$PYTHON" >/dev/null || \
		{ echo "$$PYTHON not found. Next: install Python 3.11 or newer, or name one: make setup PYTHON=python3.12" >&2; exit 2; }
	@"$$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$$PYTHON is $$("$$PYTHON" --version 2>&1), but 3.11 or newer is needed. Next: install one, then name it: make setup PYTHON=python3.12" >&2; exit 2; }
	@echo "Setting up .venv, once, about a minute ..."
	@rm -rf .venv
	@# Some systems split ensurepip off from Python; an outer pip can then fill the environment. With
	@# the system's packages that is the pinned one already, where a pip of our own would be older.
	@if [ -n "$(SYSTEM_PACKAGES)" ] && "$$PYTHON" -m pip --version >/dev/null 2>&1; then pip=--without-pip; \
	elif "$$PYTHON" -c 'import ensurepip' 2>/dev/null; then pip=; \
	elif "$$PYTHON" -m pip --version >/dev/null 2>&1; then pip=--without-pip; \
	else echo "$$PYTHON can make no virtual environment. Next: sudo apt install python3-venv" >&2; exit 2; fi; \
	"$$PYTHON" -m venv $$pip $(if $(SYSTEM_PACKAGES),--system-site-packages) .venv
	@set -- $(OFFLINE); [ $$# = 0 ] || "$(PY)" -c '$(REMEMBER)'
	@if [ -x .venv/bin/pip ]; then set -- "$(PY)" -m pip; else set -- "$$PYTHON" -m pip --python "$(PY)"; fi; \
	"$$@" $(INSTALL) -r requirements/base.txt || $(NOT_INSTALLED)
	@touch $@

# Always succeeds: without PyCUDA the simulator still grades, and `make doctor` says what to do.
.venv/gpu.stamp: .venv/base.stamp requirements/gpu.txt requirements/pycuda.txt requirements/timing.txt
	@"$(PY)" -m grader.packages pycuda $${WHEELHOUSE:+--wheelhouse "$$WHEELHOUSE"}
	@touch $@

# The stamp may outlive the Python it was made with (an upgrade of the system, a copied folder).
ifneq ($(ANEW)$(shell test -x $(PY) || echo missing),)
.PHONY: anew
.venv/base.stamp: anew
endif
