"""How answers are measured: scores, misspellings, variants of recipes, tables."""
