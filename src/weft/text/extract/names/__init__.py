"""Names of people and things in a text."""
