"""Trade-off curves: what is chosen, tables, comparisons, and what they say."""
