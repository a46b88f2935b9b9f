# Every command of this project. `make` alone lists them.
#
# Works with GNU make 3.81 and newer. All paths are relative, and values go to the shell through
# the environment, so that a folder or a value with spaces is safe.

PYTHON ?= python3
PY := .venv/bin/python

# What a command was called with, for its recipe: EX="$$EX" rather than text inside the recipe.
export PYTHON EX SHAPE DEVICE SEED SUBMISSION OUTPUT WHEELHOUSE PYTHON_VERSION MACHINE PYTEST_ARGS
export ROSTER SUBMISSIONS JOBS PROFILE STUDENT REASON RESULT FROM OUT FILE KERNEL GRID BLOCK ARGS SHARED LINE SVG SWEEP SIZES FUZZ

CASE = $${EX:+--exercise "$$EX"} $${SHAPE:+--shape "$$SHAPE"}
PLACE = $${DEVICE:+--device "$$DEVICE"} $${SEED:+--seed "$$SEED"}
LAUNCH = $${KERNEL:+--kernel "$$KERNEL"} $${GRID:+--grid "$$GRID"} $${BLOCK:+--block "$$BLOCK"} \
	$${ARGS:+--args "$$ARGS"} $${SHARED:+--shared "$$SHARED"}
PICTURE = $${LINE:+--line "$$LINE"} $${SVG:+--svg "$$SVG"}

.DEFAULT_GOAL := help
.PHONY: help setup test run inspect bench sweep grade verify calibrate demo doctor nvcc starter check check-all fuzz mutants fixtures proof lint wheelhouse lock clean update restore handout release-solutions gradescope class regrade forget

help:
	@echo "Grading of CUDA matrix multiplication. Read exercises/, edit starter/, then:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo "EX is an exercise (02_tiled, 02 or tiled), SHAPE is MxNxK, DEVICE is auto, simulator or gpu."

## Students

test: .venv/gpu.stamp ## check your files [SUBMISSION=starter] [EX=tiled] [SHAPE=33x17x65] [DEVICE=...] [SEED=n]
	@"$(PY)" -m grader test $(CASE) $(PLACE) $${SUBMISSION:+"$$SUBMISSION"}

run: .venv/gpu.stamp ## launch once, print A, B, C and the kernel's printf: EX=tiled SHAPE=3x3x3 [DEVICE=...]
	@"$(PY)" -m grader run $(CASE) $(PLACE) $${SUBMISSION:+"$$SUBMISSION"}

inspect: .venv/base.stamp ## what each line costs in memory traffic: EX=tiled SHAPE=97x97x97 or FILE=any.cu KERNEL= GRID= BLOCK= ARGS= [LINE=28 SVG=out.svg]
	@"$(PY)" -m grader inspect $${FILE:+"$$FILE"} $(CASE) $(LAUNCH) $(PICTURE) $${SEED:+--seed "$$SEED"}

bench: .venv/gpu.stamp ## how fast your kernel is, with a plot: EX=tiled [SHAPE=4096x4096x4096] [DEVICE=...] [SUBMISSION=starter] [SVG=out.svg]; without EX: the simulator
	@"$(PY)" -m grader bench $(CASE) $(PLACE) $${SVG:+--svg "$$SVG"} $${SUBMISSION:+"$$SUBMISSION"}

sweep: .venv/gpu.stamp ## other tile sizes side by side, the best marked: EX=tiled [SWEEP="TILE=8,16,32"] [SHAPE=2048x2048x2048] [DEVICE=...]
	@"$(PY)" -m grader sweep $(CASE) $(PLACE) $${SWEEP:+--values "$$SWEEP"} $${SUBMISSION:+"$$SUBMISSION"}

grade: .venv/gpu.stamp ## score, report, result files [SUBMISSION=starter] [EX=tiled] [SEED=n] [DEVICE=...] [OUTPUT=results]
	@"$(PY)" -m grader grade "$${SUBMISSION:-starter}" $${EX:+--exercise "$$EX"} $(PLACE) \
		--output "$${OUTPUT:-results}"

verify: .venv/gpu.stamp ## repeat a grading from its record, is it the same? RESULT=results/results.json SUBMISSION=dir
	@"$(PY)" -m grader verify "$${RESULT:?Name a record: make verify RESULT=results.json SUBMISSION=dir}" \
		"$${SUBMISSION:?Name what was graded: make verify RESULT=results.json SUBMISSION=dir}"

demo: .venv/gpu.stamp ## grade the solutions and some wrong kernels, to see the reports
	@"$(PY)" -m grader demo

update: .venv/base.stamp ## take a newer hand-out; starter/ stays as it is: FROM=folder or git address
	@"$(PY)" -m grader update "$${FROM:?Give the hand-out: make update FROM=folder or git address}"

restore: .venv/base.stamp ## undo changes to everything but starter/
	@"$(PY)" -m grader restore

## Teachers

handout: .venv/base.stamp ## the students' repository, without solutions: OUT=new folder
	@"$(PY)" -m grader handout "$${OUT:?Name a new folder: make handout OUT=dir}"

release-solutions: .venv/base.stamp ## the solutions to read after the deadline: OUT=new folder
	@"$(PY)" -m grader release-solutions "$${OUT:?Name a new folder: make release-solutions OUT=dir}"

gradescope: .venv/base.stamp ## the zip to upload as Gradescope's autograder: OUT=new file.zip
	@"$(PY)" -m grader gradescope "$${OUT:?Name a new file: make gradescope OUT=file.zip}"

calibrate: .venv/gpu.stamp ## which speed earns points on this GPU: writes exercises/calibration/<gpu>.toml [SIZES=1024,4096]
	@"$(PY)" -m grader calibrate $${SIZES:+--sizes "$$SIZES"}

class: .venv/class.stamp .venv/gpu.stamp ## grade a whole class, go on where it stopped: ROSTER=roster.csv SUBMISSIONS=dir [OUTPUT=class] [DEVICE=...] [SEED=n] [JOBS=n] [PROFILE=dir]
	@"$(PY)" -m grader class "$${ROSTER:?Name the roster: make class ROSTER=roster.csv SUBMISSIONS=dir}" \
		"$${SUBMISSIONS:?Name the folder of submissions: make class ROSTER=roster.csv SUBMISSIONS=dir}" \
		--output "$${OUTPUT:-class}" $(PLACE) $${JOBS:+--jobs "$$JOBS"} $${PROFILE:+--profile "$$PROFILE"}

regrade: .venv/class.stamp .venv/gpu.stamp ## grade one student again, keep both: STUDENT=name REASON="why" [OUTPUT=class]
	@"$(PY)" -m grader regrade "$${STUDENT:?Name a student: make regrade STUDENT=name REASON=why}" \
		--reason "$${REASON:?Say why, for the record: make regrade STUDENT=name REASON=why}" \
		--output "$${OUTPUT:-class}"

forget: .venv/class.stamp ## remove everything about one student: STUDENT=name [OUTPUT=class]
	@"$(PY)" -m grader forget "$${STUDENT:?Name a student: make forget STUDENT=name}" \
		--output "$${OUTPUT:-class}"

## Set-up

doctor: .venv/gpu.stamp ## what this machine can grade, what is missing, and what mends it
	@"$(PY)" -m grader doctor

nvcc: .venv/base.stamp ## install NVIDIA's compiler into .venv, for machines without a CUDA toolkit (130 MB)
	@"$(PY)" -m pip $(INSTALL) -r requirements/nvcc.txt || $(NOT_INSTALLED)
	@echo "nvcc is installed. It now decides what compiles, and for which GPUs: make test, make inspect EX=tiled"

setup: ## create .venv anew [PYTHON=python3] [WHEELHOUSE=folder] [SYSTEM_PACKAGES=1]
	@$(MAKE) --no-print-directory ANEW=yes .venv/gpu.stamp

wheelhouse: .venv/base.stamp ## wheels for a Linux machine without a network [PYTHON_VERSION=3.12] [MACHINE=x86_64]
	@"$(PY)" -m grader.packages wheelhouse --output "$${WHEELHOUSE:-wheelhouse}" \
		$${PYTHON_VERSION:+--python-version "$$PYTHON_VERSION"} $${MACHINE:+--machine "$$MACHINE"}

## Developers

# A file's tests share what they made, so one process runs a file. A GPU is for one process at a time.
PARALLEL = -n auto --dist loadfile

check: lint ## the grader's own linters, types and tests (CI runs this)
	"$(PY)" -m pytest grader/tests $(PARALLEL) --timeout 300 -m "not long and not gpu" $$PYTEST_ARGS
	"$(PY)" -m pytest grader/tests --timeout 300 -m "gpu and not long" $$PYTEST_ARGS

check-all: lint .venv/class.stamp ## check, and the long tests: cross products, other architectures
	"$(PY)" -m pytest grader/tests $(PARALLEL) --timeout 1800 -m "not gpu" $$PYTEST_ARGS
	"$(PY)" -m pytest grader/tests --timeout 1800 -m gpu $$PYTEST_ARGS

mutants: .venv/base.stamp ## change the solutions in hundreds of small ways and grade each: what is missed? [EX=tiled]
	@"$(PY)" -m grader.tests.mutants $${EX:+--exercise "$$EX"}

fixtures: .venv/base.stamp ## what a student reads first about each wrong kernel in grader/tests/submissions [EX=tiled]
	@"$(PY)" -m grader.tests.diagnoses $${EX:+"$$EX"}

fuzz: .venv/dev.stamp ## random changes to the real .cu files, read and compiled: 2,000 inputs, half an hour [FUZZ="--seed 2000"]
	@"$(PY)" -m grader.tests.fuzz $$FUZZ

proof: .venv/gpu.stamp ## the simulator's counters beside the hardware's; measured anew where there is a GPU with Nsight Compute
	@"$(PY)" -m grader.proof

lint: .venv/dev.stamp ## only what is quick: format, linter, starters in step, types
	"$(PY)" -m ruff format --check
	"$(PY)" -m ruff check
	"$(PY)" -m grader.starters --check
	"$(PY)" -m mypy

starter: .venv/base.stamp ## write starter/ from the solutions
	"$(PY)" -m grader.starters

lock: ## pin the packages of pyproject.toml anew, with hashes (needs uv)
	@command -v uv >/dev/null || { echo "uv not found. Next: $(PYTHON) -m pip install uv" >&2; exit 2; }
	@# For the oldest Python, so that nothing a newer one needs is missing, and without any index or
	@# folder of this machine: the files hold names, releases and hashes only.
	$(LOCK) -o requirements/base.txt pyproject.toml
	$(LOCK) -o requirements/dev.txt --group dev -c requirements/base.txt
	$(LOCK) -o requirements/gpu.txt --group gpu -c requirements/base.txt -c requirements/dev.txt
	$(LOCK) -o requirements/nvcc.txt --group nvcc
	$(LOCK) -o requirements/class.txt --group class -c requirements/base.txt -c requirements/dev.txt
	$(LOCK) -o requirements/pycuda.txt --group pycuda --no-deps
	$(LOCK) -o requirements/timing.txt --group timing -c requirements/base.txt

LOCK = uv pip compile --quiet --upgrade --no-config --generate-hashes --no-emit-index-url \
	--no-emit-find-links --python-version 3.11 --python-platform linux \
	--custom-compile-command "make lock"

clean: ## remove .venv and every cache
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find grader tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The set-up itself. A stamp is touched when its step is done, so an interrupted one starts again.

INSTALL = install --quiet --no-input --disable-pip-version-check --require-hashes \
	$${WHEELHOUSE:+--no-index --find-links "$$WHEELHOUSE"}
NOT_INSTALLED = { echo "Packages could not be installed (pip's reason is above). Without a network: 'make wheelhouse' on a machine that has one, then here: make setup WHEELHOUSE=folder" >&2; exit 2; }

.venv/base.stamp: requirements/base.txt
	@command -v "$$PYTHON" >/dev/null || \
		{ echo "$$PYTHON not found. Next: install Python 3.11 or newer, or name one: make setup PYTHON=python3.12" >&2; exit 2; }
	@"$$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$$PYTHON is $$("$$PYTHON" --version 2>&1), but 3.11 or newer is needed. Next: install one, then name it: make setup PYTHON=python3.12" >&2; exit 2; }
	@echo "Setting up .venv, once, about a minute ..."
	@rm -rf .venv
	@# Some systems split ensurepip off from Python; an outer pip can then fill the environment.
	@if "$$PYTHON" -c 'import ensurepip' 2>/dev/null; then pip=; \
	elif "$$PYTHON" -m pip --version >/dev/null 2>&1; then pip=--without-pip; \
	else echo "$$PYTHON can make no virtual environment. Next: sudo apt install python3-venv" >&2; exit 2; fi; \
	"$$PYTHON" -m venv $$pip $(if $(SYSTEM_PACKAGES),--system-site-packages) .venv
	@if [ -x .venv/bin/pip ]; then set -- "$(PY)" -m pip; else set -- "$$PYTHON" -m pip --python "$(PY)"; fi; \
	"$$@" $(INSTALL) -r requirements/base.txt || $(NOT_INSTALLED)
	@touch $@

.venv/dev.stamp: .venv/base.stamp requirements/dev.txt
	@"$(PY)" -m pip $(INSTALL) -r requirements/dev.txt || $(NOT_INSTALLED)
	@touch $@

.venv/class.stamp: .venv/base.stamp requirements/class.txt
	@"$(PY)" -m pip $(INSTALL) -r requirements/class.txt || $(NOT_INSTALLED)
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
