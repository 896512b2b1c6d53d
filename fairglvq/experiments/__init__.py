"""What can be compared, and the engine that computes it: methods, sweeps, stores, the paper's experiments."""
