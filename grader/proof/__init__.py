"""The proof: what the simulator counts and finds, beside what the hardware's own tools say."""
