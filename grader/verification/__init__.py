"""Repeats a grading from its record, and says whether it comes out the same."""
