def names(count):
    yield from ["Anna"] * count
