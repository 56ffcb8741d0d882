def table(day):
    return _read(day)


def _read(day):
    return globals()["cache"][day]


class Tide:
    def high(self):
        return 3
