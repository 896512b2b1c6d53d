"""The parts of the teacher's page."""
