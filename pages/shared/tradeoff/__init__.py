"""The parts of the trade-off page: controls, results, words and pictures, and export."""
