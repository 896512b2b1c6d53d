"""The parts of the lesson's page: where somebody stands, the words, challenges and people."""
