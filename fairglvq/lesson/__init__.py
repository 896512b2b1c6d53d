"""The lesson: eight steps, their texts in several languages, the numbers in them, and a visitor's progress."""
