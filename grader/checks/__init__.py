"""Runs the checks in `tests/` on submissions and collects what they find."""
