"""`python -m grader`."""

from __future__ import annotations

import shlex
import sys

NOT_INSTALLED = (
    "The grader's packages are not installed for this Python. "
    "Next: make setup, then: .venv/bin/python -m grader {arguments}"
)


def main() -> int:
    """The exit status; one line and 2 where a package cannot be found."""
    try:
        from grader import cli

        return cli.main()
    except ModuleNotFoundError as fault:
        if (fault.name or "grader").partition(".")[0] == "grader":  # a fault of ours
            raise
        print(NOT_INSTALLED.format(arguments=shlex.join(sys.argv[1:])).rstrip(), file=sys.stderr)
        return 2


# Worker processes import this module as well, under another name.
if __name__ == "__main__":
    sys.exit(main())
