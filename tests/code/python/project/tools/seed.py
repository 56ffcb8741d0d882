import random

import words
from harbour.store.missing import nothing

for name in words.names(3):
    random.shuffle(list(name))
    nothing(name)
