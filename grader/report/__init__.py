"""What a reader sees of a grading: words, lines, progress, the next step."""
