"""Checks JSON against the schemas of docs/: with a checker of its own, which knows the keywords that they use and fails
at any other, and with jsonschema where that is installed."""

import functools
import importlib.util
import json
import re

from conftest import PROJECT

TYPES = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": dict}
ABOUT = {"$schema", "$defs", "title", "description"}


class Wrong(Exception):
    pass


@functools.cache
def schema(name):
    return json.loads((PROJECT / "docs" / f"{name}.schema.json").read_text())


def is_type(value, name):
    if name in ("integer", "number"):
        kinds = int if name == "integer" else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def same(value, other):
    return type(value) is type(other) and value == other


def matches(value, part, root):
    try:
        check_part(value, part, root, "")
    except Wrong:
        return False
    return True


def check_object(value, part, root, where):
    for name in part.get("required", []):
        if name not in value:
            raise Wrong(f"{where}: {name} is missing")
    for name, others in part.get("dependentRequired", {}).items():
        if name in value and not set(others) <= set(value):
            raise Wrong(f"{where}: {name} without {set(others) - set(value)}")
    for name, inner in value.items():
        form = part.get("properties", {}).get(name, part.get("additionalProperties", True))
        if form is False:
            raise Wrong(f"{where}: {name} is not in the schema")
        if form is not True:
            check_part(inner, form, root, f"{where}.{name}")


def check_words(value, part, root, where):
    if "type" in part:
        names = part["type"] if isinstance(part["type"], list) else [part["type"]]
        if not any(is_type(value, name) for name in names):
            raise Wrong(f"{where}: {value!r} is not {names}")
    if "const" in part and not same(value, part["const"]):
        raise Wrong(f"{where}: {value!r} is not {part['const']!r}")
    if "enum" in part and not any(same(value, word) for word in part["enum"]):
        raise Wrong(f"{where}: {value!r} is not in {part['enum']}")
    if "minimum" in part and is_type(value, "number") and not value >= part["minimum"]:
        raise Wrong(f"{where}: {value} is below {part['minimum']}")
    if "pattern" in part and isinstance(value, str) and not re.search(part["pattern"], value):
        raise Wrong(f"{where}: {value!r} is not {part['pattern']}")


KEYWORDS = ABOUT | {"type", "const", "enum", "minimum", "pattern", "required", "dependentRequired", "properties",
                    "additionalProperties", "items", "$ref", "anyOf", "oneOf"}


def check_part(value, part, root, where):
    if set(part) - KEYWORDS:
        raise AssertionError(f"{where}: this checker does not know {set(part) - KEYWORDS}")
    if "$ref" in part:
        check_part(value, root["$defs"][part["$ref"].removeprefix("#/$defs/")], root, where)
    for word, counts in (("anyOf", lambda count: count >= 1), ("oneOf", lambda count: count == 1)):
        if word in part and not counts(sum(matches(value, one, root) for one in part[word])):
            raise Wrong(f"{where}: {word}: {value}")
    check_words(value, part, root, where)
    if isinstance(value, dict):
        check_object(value, part, root, where)
    if isinstance(value, list) and "items" in part:
        for number, inner in enumerate(value):
            check_part(inner, part["items"], root, f"{where}[{number}]")


def parts(part):
    """The schema and all schemas inside."""
    yield part
    for word, inner in part.items():
        if word in ("properties", "$defs"):
            for one in inner.values():
                yield from parts(one)
        elif word in ("items", "additionalProperties") and isinstance(inner, dict):
            yield from parts(inner)
        elif word in ("anyOf", "oneOf"):
            for one in inner:
                yield from parts(one)


def no_constant(name):
    raise Wrong(f"{name} is not JSON")


def no_repeats(pairs):
    if len(dict(pairs)) != len(pairs):
        raise Wrong(f"repeated: {pairs}")
    return dict(pairs)


def read(text, name):
    """The value of a text that must be one object of a schema."""
    value = json.loads(text, parse_constant=no_constant, object_pairs_hook=no_repeats)
    check_part(value, schema(name), schema(name), name)
    if importlib.util.find_spec("jsonschema"):
        import jsonschema
        if hasattr(jsonschema, "Draft202012Validator"):
            jsonschema.Draft202012Validator(schema(name)).validate(value)
    return value


def events(folder, *names):
    """The whole lines of the folder's log; those of these events alone if any are given."""
    text = (folder / "log").read_text() if (folder / "log").exists() else ""
    found = [read(line, "log") for line in text.splitlines(True) if line.endswith("\n")]
    return [line for line in found if not names or line["event"] in names]
