"""The parts of the playground: what a visitor does on the stage, and the stage itself."""
