"""Rooms in which a class does the lesson together: each student's step, predictions and results."""
