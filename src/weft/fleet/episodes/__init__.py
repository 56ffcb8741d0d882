"""Episodes: what agents saw, decided, edited, tested and met, in order; and what is learnt from them."""
