"""Trade-off curves: choices, tables, comparisons and their words."""
