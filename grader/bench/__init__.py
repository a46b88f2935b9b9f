"""How fast the simulator is: `python -m grader bench`."""
