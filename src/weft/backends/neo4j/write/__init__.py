"""Writing a commit, the view of a plan, rebuilding."""
