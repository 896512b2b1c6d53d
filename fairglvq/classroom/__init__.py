"""Rooms in which a class does the lesson together: who is at which step, what was predicted, how well tasks went."""
