"""The command line: `python -m grader <verb>`. What the Makefile calls."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from grader import changed_copy, interruption, machine_fault
from grader.bench.options import add_parser as add_bench
from grader.caller import is_make, reworded
from grader.classroom.options import VERBS as CLASS_VERBS
from grader.classroom.options import add_parsers as add_class
from grader.finding import GraderFault
from grader.formats.options import VERBS as FORMAT_VERBS
from grader.formats.options import add_parsers as add_formats
from grader.handout.options import VERBS as HANDOUT_VERBS
from grader.handout.options import add_parsers as add_handout
from grader.inspect.options import add_parser as add_inspect
from grader.report.output import OUTPUT
from grader.report.words import visible
from grader.secret_seed import add_parser as add_secret_seed
from grader.seeds import seed
from grader.sweep.options import add_parser as add_sweep
from grader.timing.options import add_parser as add_calibrate
from grader.verification.options import add_parser as add_verify

OK, FAILED, ERROR = 0, 1, 2


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        text = f"{message}. See: {self.prog} --help"
        print(f"{self.prog}: {text}" if not is_make() else reworded(text), file=sys.stderr)
        raise SystemExit(ERROR)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: nothing failed, 1: something failed, 2: wrong usage or an error of the grader."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.verb is None:
        parser.print_help()
        return OK
    interruption.install()
    try:
        status = _run(options)
        OUTPUT.finish()
        return status
    except GraderFault as fault:
        _tell(str(fault))
        if "Next: " not in str(fault) and (changed := changed_copy.note(fault=str(fault))):
            _tell(changed)
    except KeyboardInterrupt:
        _tell("Interrupted.")
    except BrokenPipeError:
        pass  # the reader of our output left (`| head`): nobody is there to tell
    except (OSError, MemoryError) as fault:
        _tell(machine_fault.told(fault))
    except Exception as fault:  # a mistake of ours: not 1, which says that a kernel failed
        if (answered := changed_copy.answer(options.verb)) is not None:
            return answered
        traceback.print_exc()
        _tell(machine_fault.told(fault))
    with contextlib.suppress(OSError):
        OUTPUT.finish()
    return ERROR


def _tell(text: str) -> None:
    with contextlib.suppress(OSError):  # a terminal that is gone
        print(visible(reworded(text)), file=sys.stderr, flush=True)


# A verb -> the module that is imported when it is wanted (`--help` needs none), and its function.
_VERBS = {
    "test": "grader.commands:test",
    "grade": "grader.commands:grade",
    "run": "grader.single_run:main",
    "inspect": "grader.inspect.command:main",
    "bench": "grader.bench.command:main",
    "sweep": "grader.sweep.command:main",
    "calibrate": "grader.timing.command:main",
    "verify": "grader.verification.command:main",
    "seed": "grader.secret_seed:main",
    "take": "grader.classroom.taking:main",
    "collect": "grader.classroom.collection:main",
    "demo": "grader.demo:main",
    "doctor": "grader.doctor:main",
    "starter": "grader.starters:run",
    **dict.fromkeys(CLASS_VERBS, "grader.classroom.command:main"),
    **dict.fromkeys(FORMAT_VERBS, "grader.formats.command:main"),
    **dict.fromkeys(HANDOUT_VERBS, "grader.handout.command:main"),
}


def _run(options: argparse.Namespace) -> int:
    module, _, name = _VERBS[options.verb].partition(":")
    return int(getattr(importlib.import_module(module), name)(options))


def _parser() -> _Parser:
    parser = _Parser(prog="python -m grader", description="Grades CUDA matrix multiplication.")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    test = verbs.add_parser("test", help="check the files in starter/, for students")
    test.add_argument("folder", nargs="?", type=_folder, metavar="DIR", help="default: starter")
    _add_case(test)
    run = verbs.add_parser("run", help="launch once; print A, B, C and the kernel's printf")
    run.add_argument("folder", nargs="?", type=_folder, metavar="DIR", help="default: starter")
    _add_case(run)
    add_inspect(verbs.add_parser)
    add_bench(verbs.add_parser)
    add_sweep(verbs.add_parser)
    grade = verbs.add_parser("grade", help="score a submission and write results.json")
    grade.add_argument("folder", nargs="?", type=_folder, metavar="DIR", help="a submission")
    grade.add_argument("--solutions", action="store_true", help="grade the reference solutions")
    grade.add_argument("--exercise", metavar="EX", help="only this one: 02_tiled, 02 or tiled")
    grade.add_argument(
        "--output", type=_folder, default=Path("results"), metavar="DIR", help="default: results"
    )
    _add_place(grade)
    add_verify(verbs.add_parser)
    add_secret_seed(verbs.add_parser)
    add_calibrate(verbs.add_parser)
    add_formats(verbs.add_parser)
    add_handout(verbs.add_parser)
    add_class(verbs.add_parser, seed)
    for verb, told in (
        ("demo", "grade the solutions and some wrong kernels, to see the reports"),
        ("doctor", "say what this machine can grade, and what mends the rest"),
    ):
        _add_plain(verbs.add_parser(verb, help=told))
    starter = verbs.add_parser("starter", help="write missing files of starter/ anew")
    starter.add_argument("--check", action="store_true", help="write nothing, compare")
    return parser


def _add_case(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--exercise", metavar="EX", help="only this one: 02_tiled, 02 or tiled")
    parser.add_argument("--shape", metavar="MxNxK", help="only this shape, for example 33x17x65")
    _add_place(parser)


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", choices=("auto", "simulator", "gpu"), default="auto", help="default: auto"
    )
    parser.add_argument("--seed", type=seed, metavar="N", help="repeats what was drawn with it")
    _add_plain(parser)


def _add_plain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plain", action="store_true", help="no colours, no moving lines")


def _folder(text: str) -> Path:
    if not text:  # an unset variable of a script, not the folder we were called from
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return Path(text)
