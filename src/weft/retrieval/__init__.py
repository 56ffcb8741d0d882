"""One pipeline for every question. A stage is a value with a call; a recipe is a tuple of stages."""
