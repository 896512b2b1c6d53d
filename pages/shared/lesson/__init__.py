"""The parts of the lesson's page: progress, words, challenges and people."""
