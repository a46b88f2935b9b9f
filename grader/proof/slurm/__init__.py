"""A class on SLURM's own daemons, on this machine: see `__main__`."""
