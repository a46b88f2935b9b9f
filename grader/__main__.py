"""`python -m grader`."""

from __future__ import annotations

import sys

from grader.cli import main

# Worker processes import this module as well, under another name.
if __name__ == "__main__":
    sys.exit(main())
