"""How fast kernels are, and how fast the simulator is: `python -m grader bench`."""
