# What teachers and developers use besides the students' commands: the Makefile includes this file
# where it is there. The students' copy has neither it nor what its commands need.

TAKEN += ROSTER SUBMISSIONS JOBS PROFILE STUDENT REASON FETCH OUT SIZES FUZZ PYTEST_ARGS
# As it was written: to make, "$5" is a variable, and a reason is a sentence.
override REASON := $(value REASON)

.PHONY: demo handout release-solutions gradescope calibrate class regrade forget
.PHONY: check check-all mutants fixtures fuzz proof lint lock

## Teachers

demo: .venv/gpu.stamp ## grade the solutions and some wrong kernels, to see the reports
	@"$(PY)" -m grader demo

handout: .venv/base.stamp ## the students' repository, without solutions: OUT=new folder
	@$(call need,OUT,Name a new folder: make handout OUT=dir)
	@"$(PY)" -m grader handout "$$OUT"

release-solutions: .venv/base.stamp ## the solutions to read after the deadline: OUT=new folder
	@$(call need,OUT,Name a new folder: make release-solutions OUT=dir)
	@"$(PY)" -m grader release-solutions "$$OUT"

gradescope: .venv/base.stamp ## the zip to upload as Gradescope's autograder: OUT=new file.zip
	@$(call need,OUT,Name a new file: make gradescope OUT=file.zip)
	@"$(PY)" -m grader gradescope "$$OUT"

calibrate: .venv/gpu.stamp ## which speed earns points on this GPU: writes exercises/calibration/<gpu>.toml [SIZES=1024,4096]
	@"$(PY)" -m grader calibrate $${SIZES:+--sizes "$$SIZES"}

# What can be wrong with the call is told before anything is installed for it.
class: ## grade a whole class, go on where it stopped: ROSTER=roster.csv SUBMISSIONS=dir [OUTPUT=class] [DEVICE=...] [SEED=n] [JOBS=n] [PROFILE=grader/classroom/profiles/slurm]
	@$(call need,ROSTER,Name the roster: make class ROSTER=roster.csv SUBMISSIONS=dir)
	@$(call need,SUBMISSIONS,Name the folder of submissions: make class ROSTER=roster.csv SUBMISSIONS=dir)
	@$(MAKE) --silent .venv/base.stamp
	@"$(PY)" -m grader class "$$ROSTER" "$$SUBMISSIONS" --check \
		--output "$${OUTPUT:-class}" $(PLACE) $${JOBS:+--jobs "$$JOBS"} $${PROFILE:+--profile "$$PROFILE"}
	@$(MAKE) --silent .venv/gpu.stamp .venv/class.stamp
	@"$(PY)" -m grader class "$$ROSTER" "$$SUBMISSIONS" \
		--output "$${OUTPUT:-class}" $(PLACE) $${JOBS:+--jobs "$$JOBS"} $${PROFILE:+--profile "$$PROFILE"}

regrade: .venv/class.stamp .venv/gpu.stamp ## grade one student again, keep both: STUDENT=name REASON="why" [FETCH=1: take anew what was handed in] [OUTPUT=class]
	@$(call need,STUDENT,Name a student: make regrade STUDENT=name REASON=why)
	@$(call need,REASON,Say why: make regrade STUDENT=name REASON=why)
	@case "$$FETCH" in ''|0|1) ;; *) echo "FETCH=$$FETCH is not known. Next: FETCH=1, or leave it out" >&2; exit 2; esac
	@"$(PY)" -m grader regrade "$$STUDENT" --reason "$$REASON" $(if $(filter 1,$(FETCH)),--fetch) --output "$${OUTPUT:-class}"

forget: .venv/class.stamp ## remove everything about one student: STUDENT=name [OUTPUT=class]
	@$(call need,STUDENT,Name a student: make forget STUDENT=name)
	@"$(PY)" -m grader forget "$$STUDENT" --output "$${OUTPUT:-class}"

## Developers

# Neighbours share what they made, so a process begins with a row of them, then takes over what is
# left of others' rows. A GPU is for one process at a time.
PARALLEL = -n auto --dist worksteal

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
	"$(PY)" -m grader starter --check
	"$(PY)" -m mypy

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

# What these commands need, besides the Makefile's own stamps.

.venv/dev.stamp: .venv/base.stamp requirements/dev.txt
	@echo "Installing what the grader's own tests need, once, about a minute ..."
	@"$(PY)" -m pip $(INSTALL) -r requirements/dev.txt || $(NOT_INSTALLED)
	@touch $@

.venv/class.stamp: .venv/base.stamp requirements/class.txt
	@echo "Installing what a class needs, once, a minute or two ..."
	@"$(PY)" -m pip $(INSTALL) -r requirements/class.txt || $(NOT_INSTALLED)
	@touch $@
