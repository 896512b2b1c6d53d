"""The error that a table raises."""


class TableError(ValueError):
    """A table cannot be used; the message is one sentence for the person whose table it is."""
