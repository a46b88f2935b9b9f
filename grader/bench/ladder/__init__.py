"""From the naive kernel to the tuned one: each rung changes one thing, and shows what it gains."""
