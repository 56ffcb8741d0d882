"""Numbers in a sentence with their units or what they count: "$1.5 million", "14 km", "six songs", "two hours"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from weft.text.extract.findings import FoundQuantity, Span, overlaps

MAX_QUANTITIES: Final = 32  # of one sentence

_WORDS_TEXT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS_TEXT = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES: Final = {word: float(value) for value, word in enumerate(_WORDS_TEXT.split())}
_TENS: Final = {word: 10.0 * value for value, word in enumerate(_TENS_TEXT.split(), 2)}
_SCALES: Final = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "dozen": 12.0,
    "k": 1e3,
    "m": 1e6,
    "bn": 1e9,
}
_CURRENCIES: Final = {"$": "dollars", "€": "euros", "£": "pounds", "¥": "yen", "₹": "rupees"}
_SCALE = r"(?:hundred|thousand|million|billion|trillion|dozen)"
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,6})?"
_TO = r"(?:\s?(?:-|–|to)\s?(?P<to>\d{1,9}(?:\.\d{1,3})?))?"
_TEENS = "|".join(sorted(_ONES, key=len, reverse=True))
_SPELT = (
    rf"(?:(?:{_TENS_TEXT.replace(' ', '|')})(?:[- ](?:{_TEENS}))?|{_TEENS})(?: {_SCALE}){{0,2}}"
    rf"|(?:a|half a|a couple of|a few|several) {_SCALE}|a couple(?: of)?"
)
_UNIT_TEXT = """
second seconds sec secs minute minutes min mins hour hours hr hrs day days night nights week weeks month months year
years decade decades century centuries fortnight km kms kilometer kilometers kilometre kilometres m metre metres meter
meters cm centimeter centimeters centimetre mm mile miles mi foot feet ft inch inches yard yards acre acres hectare
hectares kg kgs kilogram kilograms kilo kilos g gram grams mg lb lbs pound pounds oz ounce ounces ton tons tonne
tonnes liter liters litre litres ml l gallon gallons pint pints cup cups tablespoon tablespoons tbsp teaspoon
teaspoons tsp percent percentage dollar dollars euro euros usd eur gbp cent cents bucks rupee rupees yen kb mb gb tb
ghz mhz hz kw kwh watt watts volt volts mph kph kmh calorie calories kcal degree degrees celsius fahrenheit px pixel
pixels rpm dpi fps bit bits byte bytes megapixel megapixels mah lumen lumens ms people copies times
"""
_UNITS: Final = frozenset(_UNIT_TEXT.split())
_QUANTITY = re.compile(
    rf"(?P<currency>(?:US|A|C|HK)?[$€£¥₹]\s?)?(?<![\w.,/:#-])(?P<digits>{_DIGITS}){_TO}(?![\d/:]|\.\d|,\d|(?:st|nd|rd"
    rf"|th)\b)"
    rf"(?:\s?(?P<scale>{_SCALE}|[kKmM]|bn)\b)?(?P<plus>\+)?"
    rf"|\b(?P<spelt>{_SPELT})\b(?!\s?(?:{_SCALE})\b)",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"\s?(?:%|percent\b|per cent\b)")
_DEGREE = re.compile(r"\s?°\s?[CF]?\b|\s?[″”\"](?=[\s,.)]|$)|\s?°")
_UNIT = re.compile(r"[ -]?((?:square|cubic|sq\.?) )?([A-Za-z]+)(?:[ -](old|long|wide|tall|high|deep)\b)?")
_NEXT_WORDS = re.compile(
    r" ((?:[A-Za-z][\w'-]* ){0,3}?)([A-Za-z][A-Za-z'-]*[a-rt-z]s|people|children|men|women|mice|teeth|sheep"
    r"|fish)\b(?!['’])"
)
_HYPHENED = re.compile(r"-([a-z]{2,20})(?:-(?:old|long|wide|tall|high|deep)\b)?(?!\w)")
_AND_MORE = re.compile(
    rf"(?:,? and |, | )(?:{_DIGITS}) ?(?:minutes?|mins?|seconds?|months?|days?|inches|ounces|oz|weeks?)\b"
)
_TIME_OF_DAY = re.compile(r"\s?(?:[ap]\.?m\b|o'clock)", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:\b(?:no|nos|number|line|chapter|section|page|step|part|episode|season|route|highway|room|level|version|v|vol"
    r"|volume|day|grade|phase|type|class|figure|table|issue|unit|interstate|flight|track|round|week|zip code|code)"
    r"\.?\s|[#№@_/\\]\s?)$",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"^\W*\d{1,3}[.)](?:\s|$)")
_NOT_COUNTED_TEXT = """
was is has this as its his us plus yes always perhaps towards across less thus versus does goes comes gets makes says
minus besides sometimes series
"""
_NOT_COUNTED: Final = frozenset(_NOT_COUNTED_TEXT.split())


def quantities(sentence: str, taken: list[Span]) -> list[FoundQuantity]:
    """The quantities of a sentence in order, outside the spans already taken (dates, names, addresses).

    Left out: ordinals, times of day, numbers of lists, chapters and versions, and numbers that count nothing ("one of
    them", "won by 63"). Of a range ("10-12 cups") the first number counts. At most MAX_QUANTITIES.
    """
    found: list[FoundQuantity] = []
    listed = _LIST_MARK.match(sentence)
    begin = listed.end() if listed else 0
    for match in _QUANTITY.finditer(sentence, begin):
        if overlaps(match.span(), taken):
            continue
        read = _read_digits(sentence, match) if match["digits"] else _read_spelt(sentence, match)
        if read is not None and not (found and read.span[0] < found[-1].span[1]):
            found.append(read)
            if len(found) >= MAX_QUANTITIES:
                break
    return found


def _read_digits(sentence: str, match: re.Match[str]) -> FoundQuantity | None:
    start, stop = match.start(), match.end()
    if _TIME_OF_DAY.match(sentence, stop) or _LABEL.search(sentence, max(0, start - 12), start):
        return None
    value = float(match["digits"].replace(",", ""))
    scale = (match["scale"] or "").lower()
    if scale == "m" and not match["currency"]:  # 50 m are metres
        return FoundQuantity(span=(start, stop), value=value, unit="m")
    value *= _SCALES.get(scale, 1.0)
    if match["currency"]:
        sign = match["currency"].strip()[-1]
        return FoundQuantity(span=(start, stop), value=value, unit=_CURRENCIES[sign])
    if percent := _PERCENT.match(sentence, stop):
        return FoundQuantity(span=(start, percent.end()), value=value, unit="%")
    if degree := _DEGREE.match(sentence, stop):
        return FoundQuantity(span=(start, degree.end()), value=value, unit=degree[0].strip())
    unit, end = _unit_after(sentence, stop)
    if not unit:
        return None  # a bare number; 3D, 4K
    if more := _AND_MORE.match(sentence, end):
        end = more.end()
    return FoundQuantity(span=(start, end), value=value, unit=unit)


def _read_spelt(sentence: str, match: re.Match[str]) -> FoundQuantity | None:
    value = _spelt_value(match["spelt"].lower())
    unit, end = _unit_after(sentence, match.end())
    if value is None or not unit:
        return None
    return FoundQuantity(span=(match.start(), end), value=value, unit=unit)


def _unit_after(sentence: str, at: int) -> tuple[str, int]:
    """The unit or the things counted from here on, and their end; ("", at) if there are none."""
    unit = _UNIT.match(sentence, at)
    if unit and unit[2].lower() in _UNITS:
        written = f"{unit[1] or ''}{unit[2]}"
        return written, unit.end()
    if hyphened := _HYPHENED.match(sentence, at):
        return hyphened[1], hyphened.end()
    counted = _NEXT_WORDS.match(sentence, at)
    if counted and counted[2] not in _NOT_COUNTED and not _FUNCTION.search(counted[1]):
        return counted[2], counted.end()
    return "", at


_FUNCTION = re.compile(r"\b(?:of|in|on|at|to|for|and|or|the|a|is|was|by|with|from|as|he|she|it|they|that|who|i|we)\b")


@lru_cache(maxsize=512)
def _spelt_value(text: str) -> float | None:
    """The value of a spelt number with up to two scales: "twenty-five", "two hundred thousand", "a dozen"."""
    total = 0.0
    for word in re.split(r"[- ]", text):
        if word in _ONES:
            total += _ONES[word]
        elif word in _TENS:
            total += _TENS[word]
        elif word in _SCALES:
            total = max(total, 1.0) * _SCALES[word]
        elif word == "half":
            total += 0.5
        elif word == "couple":
            total += 2.0
        elif word in {"few", "several"}:
            return None
    return total if "half a " not in text else total / 2 if total > 1 else 0.5
