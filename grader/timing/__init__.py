"""How fast a kernel is: paired launches, a stopping rule, and the calibration of a GPU model."""
