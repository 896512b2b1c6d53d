"""The parts of the page for your own data: a table brought in, what its columns mean, and a look before any model."""
