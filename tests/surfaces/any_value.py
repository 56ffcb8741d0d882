"""Values that fit a JSON Schema, of the few forms that the schemas of tools are made of. Anything else is an error."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TOLD = {"title", "description", "default", "format", "examples"}  # say nothing about which values fit
NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
TEXTS = ("minLength", "maxLength", "pattern")
LISTS = ("minItems", "maxItems", "items", "prefixItems")
OBJECTS = ("properties", "required", "additionalProperties", "minProperties", "maxProperties", "propertyNames")
MOST_ITEMS = 4
MOST_CHARACTERS = 40
# What programs tend to get wrong, beside whatever hypothesis thinks of.
AWKWARD = ["", " ", "\x00", "\u202e", "a\nb", "'; --", "../x", "{}", "0", "null", "é" * 7, "🜁", "%s", "x" * 300]
texts = st.one_of(st.text(max_size=MOST_CHARACTERS), st.sampled_from(AWKWARD))
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=5,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Any value that fits the schema."""
    known = {*TOLD, *NUMBERS, *TEXTS, *LISTS, *OBJECTS, "type", "enum", "const", "anyOf"}
    assert set(schema) <= known, f"the schema says what is not understood here: {set(schema) - known}"
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    if "anyOf" in schema:
        return st.one_of(*map(fitting, schema["anyOf"]))
    match schema.get("type"):
        case None:
            return anything
        case list() as kinds:
            return st.one_of(*(fitting(schema | {"type": kind}) for kind in kinds))
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", -(2**53)), schema.get("maximum", 2**53))
        case "number":
            return st.floats(schema.get("minimum"), schema.get("maximum"), allow_nan=False, allow_infinity=False)
        case "string":
            return _text(schema)
        case "array":
            return _list(schema)
        case "object":
            return _object(schema)
    raise AssertionError(schema)


def _text(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    least, most = schema.get("minLength", 0), schema.get("maxLength", 10**9)
    made = st.from_regex(schema["pattern"], fullmatch=True) if "pattern" in schema else texts
    return made.filter(lambda text: least <= len(text) <= most)


def _list(schema: dict[str, Any]) -> st.SearchStrategy[list[Any]]:
    if "prefixItems" in schema:
        return st.tuples(*map(fitting, schema["prefixItems"])).map(list)
    least = schema.get("minItems", 0)
    most = max(least, min(schema.get("maxItems", MOST_ITEMS), MOST_ITEMS))
    return st.lists(fitting(schema.get("items") or {}), min_size=least, max_size=most)


def _object(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = schema.get("properties", {})
    required = {name: fitting(fields[name]) for name in schema.get("required", ())}
    optional = {name: fitting(each) for name, each in fields.items() if name not in required}
    if fields:
        return st.fixed_dictionaries(required, optional=optional)
    others = schema.get("additionalProperties", True)
    names = fitting({"type": "string"} | schema.get("propertyNames", {}))
    values = anything if others is True else fitting(others)
    return st.dictionaries(names, values, max_size=min(schema.get("maxProperties", 3), 3))
