"""Tasks, features and plans: what is to be done, what waits for what, and how work passes on."""
