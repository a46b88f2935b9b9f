"""The verb `seed`: a secret seed for a graded round, committed to before and published after.

A file holds the seed and a nonce; the commitment is the SHA-256 of that file, so `sha256sum` checks
it as well. The nonce is there because a seed alone has few enough bits to be tried out.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path

from grader import seeds
from grader.finding import GraderFault
from grader.machine_fault import unwritable

_NONCE_BYTES = 32
_FORM = re.compile(r"seed (\d{1,20})\s+nonce ([0-9a-f]{64})\s*")

_DESCRIPTION = """\
Before the deadline, `--commit` draws a secret seed into a file and prints a commitment: publish
that, keep the file. Grade with the seed. After the deadline publish the file; `--check` shows that
it holds what was committed to.
"""


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verb; `add` is add_parser of the command line's verbs."""
    told = "a secret seed: commit to it before, publish it after"
    parser = add("seed", help=told, description=_DESCRIPTION)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--commit", action="store_true", help="draw a seed, print its commitment")
    what.add_argument("--check", nargs=2, metavar=("FILE", "COMMITMENT"))
    parser.add_argument("--output", type=Path, metavar="FILE", help="a new file, for --commit")


def main(options: argparse.Namespace) -> int:
    """0, or for --check 1 where the file is not what was committed to."""
    if options.check:
        return check(Path(options.check[0]), options.check[1])
    if options.output is None:
        raise GraderFault("--commit needs a new file for the secret: --output FILE")
    print(f"Commitment: {commit(options.output)}")
    print(f"The secret is in {options.output}, which only you can read.")
    print("Next: publish the commitment; grade with SEED=, the number in the file; afterwards "
          "publish the file")  # fmt: skip
    return 0


def commit(path: Path) -> str:
    """Draw a seed into a new file that only its owner can read; the commitment to it."""
    text = _text(seeds.draw(), secrets.token_hex(_NONCE_BYTES))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            path.unlink()  # a full disk leaves no seed, and the name stays free
            raise
    except FileExistsError:
        raise GraderFault(
            f"{path} exists, and may hold a seed that was committed to. Next: name a new file"
        ) from None
    except OSError as fault:
        raise unwritable(path, fault, "--output FILE") from None
    return _digest(text)


def check(path: Path, commitment: str) -> int:
    """Say whether the file is what was committed to; line ends do not matter."""
    try:
        match = _FORM.fullmatch(path.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is no text"
        raise GraderFault(f"{path} cannot be read: {why}. Next: give the published file") from None
    if match is None:
        raise GraderFault(f"{path} holds no seed and nonce. Next: give the published file")
    seed, nonce = int(match[1]), match[2]
    if _digest(_text(seed, nonce)) != commitment.strip().lower():
        print(f"{path} is not what was committed to: its SHA-256 is {_digest(_text(seed, nonce))}.")
        return 1
    print(f"{path} is what was committed to. Seed: {seed}")
    print(f"Next: make grade SEED={seed}")
    return 0


def _text(seed: int, nonce: str) -> str:
    return f"seed {seed}\nnonce {nonce}\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
