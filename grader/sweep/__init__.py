"""One kernel with other constants: `python -m grader sweep`."""
