"""A student's copy in which the grader itself was changed, so that it may not even start.

Only the standard library, and nothing of the grader: whatever is imported may be what is broken.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_MANIFEST = "handout.json"
_A_FEW = 5


def answer(verb: str, root: Path = ROOT) -> int | None:
    """After a failure of the grader: `restore` restores, other verbs are told that it would.

    The exit status; None where nothing was changed that could be the reason.
    """
    if not (told := note(root)):
        return None
    if verb == "restore":
        return _restore(root)
    print(told, file=sys.stderr)
    return 2


def note(root: Path = ROOT, fault: str = "") -> str:
    """What was changed, with the next step; "" for nothing, or for nothing that `fault` names."""
    names = [name for name in _changed(root) if not name.endswith(".md")]  # which nothing reads
    if not names or (fault and not any(name in fault for name in names)):
        return ""
    return f"Changed outside starter/: {_few(names)}. Next: make restore"


def _restore(root: Path) -> int:
    """Bring every changed file back from the commit that brought the manifest."""
    git = ("git", "-C", str(root))
    names = _changed(root)
    try:
        last = (*git, "log", "-1", "--format=%H", "--", _MANIFEST)
        commit = subprocess.run(last, capture_output=True, text=True, check=False).stdout.strip()
        for name in names:  # each alone: one that the commit lacks would keep all others back
            one = (*git, "restore", f"--source={commit}", "--", name)
            subprocess.run(one, capture_output=True, check=False)
    except FileNotFoundError:
        print("git not found on PATH. Next: sudo apt install git", file=sys.stderr)
        return 2
    left = _changed(root)
    if restored := [name for name in names if name not in left]:
        print(f"Restored: {', '.join(restored)}")
    if left:
        print(
            f"Not in this repository's history as handed out: {_few(left)}. "
            "Next: get the hand-out anew, and copy your starter/ into it",
            file=sys.stderr,
        )
    return 2 if left else 0


def _changed(root: Path) -> list[str]:
    """What is not as it was handed out; [] where nothing says what was, as in the course itself."""
    try:
        files = json.loads((root / _MANIFEST).read_bytes())["files"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [name for name, digest in files if _digest(root / name) != digest]


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _A_FEW} more" if len(names) > _A_FEW else ""
    return f"{', '.join(names[:_A_FEW])}{more}"
