"""Structure in text, found without a store and without a model."""
