"""A whole class: the roster, what each student handed in, one grading each, the grade book."""
