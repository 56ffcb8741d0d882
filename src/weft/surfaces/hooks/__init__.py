"""Hooks of agents' programs: what each sends, what is done for it, and the answer in its form."""
