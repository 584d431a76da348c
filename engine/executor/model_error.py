"""What is wrong with a model file, in one sentence for the person who chose it."""


class ModelError(ValueError):
    """A model that cannot be found, read or held in memory. The text names the value, the limit and what to change."""
