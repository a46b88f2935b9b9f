"""Seeds, drawn and read from the command line."""

from __future__ import annotations

import argparse
import secrets

# JSON numbers beyond 2^53 change in readers that keep them as doubles (jq, JavaScript), and a seed
# that changed repeats nothing: none is drawn. Who gives a larger one has it from elsewhere.
_BITS = 53


def draw() -> int:
    return secrets.randbits(_BITS)


def seed(text: str) -> int:
    """The type of an option; argparse names it in its errors as it is called here."""
    number = int(text, 0)
    if not 0 <= number < 2**64:
        raise argparse.ArgumentTypeError("a seed is a number from 0 to 2^64 - 1")
    return number
