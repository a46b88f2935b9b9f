"""Writers of other systems' result formats, one file each, all from results.json alone.

Every format says the same: earned points out of those that could be graded. A check that could not
be graded (no GPU, a fault of the grader's) counts for nothing, neither earned nor possible.
"""
