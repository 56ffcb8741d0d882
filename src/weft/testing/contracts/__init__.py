"""One contract class per part of the Store port."""
