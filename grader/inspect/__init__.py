"""The verb `inspect`: one launch of any kernel on the simulator, explained line by line."""
