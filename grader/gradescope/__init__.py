"""Gradescope: the zip that a teacher uploads, and what runs inside it for each submission."""
