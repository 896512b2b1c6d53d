"""The parts of the prototypes page: the model in view, its cards, its pairs with another model, and one person."""
