"""What repeats itself in episodes, and what is learnt from it."""
