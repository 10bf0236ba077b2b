"""Sweep files as an editor sees them: YAML 1.2, and the program's JSON Schema."""

import functools
import json
import re

import jsonschema
import yaml

from conftest import NORMSWEEP, run
from schemas import no_repeats


class Loader(yaml.SafeLoader):
    """The core schema of YAML 1.2, as JSON: keys are texts. PyYAML reads YAML 1.1, for which 1e-3 is a text."""
    yaml_implicit_resolvers = {}

    def mapping(self, node):
        if not all(isinstance(key, yaml.ScalarNode) for key, _ in node.value):
            raise yaml.YAMLError("a key is not a word")
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}


KINDS = {
    "null": (r"~|null|Null|NULL|", lambda text: None),
    "bool": (r"true|True|TRUE|false|False|FALSE", lambda text: text.lower() == "true"),
    "int": (r"[-+]?[0-9]+", int),
    "float": (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", float),
    "infinity": (r"[-+]?\.(inf|Inf|INF)", lambda text: float(text.replace(".", "", 1))),
}
for kind, (pattern, reader) in KINDS.items():
    tag = f"tag:yaml.org,2002:{kind}"
    Loader.add_implicit_resolver(tag, re.compile(f"^(?:{pattern})$"), None)
    Loader.add_constructor(tag, lambda loader, node, reader=reader: reader(node.value))
Loader.add_constructor("tag:yaml.org,2002:map", Loader.mapping)


def load(text):
    return yaml.load(text, Loader)


@functools.cache
def validator():
    schema = json.loads(run(NORMSWEEP, "help", "--schema").stdout, object_pairs_hook=no_repeats)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def complaints(text):
    """What an editor says about a sweep file; []: nothing."""
    return [error.message for error in validator().iter_errors(load(text))]


def proposals(part):
    """What an editor proposes as a value, as the yaml-language-server does: defaults, words and truth values of a
    schema and of its alternatives, but not of the branches of an `if`; null where it is a type."""
    if part is True:
        return []
    if "$ref" in part:
        return proposals(validator().schema["definitions"][part["$ref"].rpartition("/")[2]])
    types = part.get("type", [])
    found = [part["default"]] if "default" in part else []
    found += part.get("enum", [])
    for other in [*part.get("allOf", []), *part.get("anyOf", []), *part.get("oneOf", [])]:
        found += proposals(other)
    found += [True, False] if "boolean" in types and "enum" not in part else []
    return found + ([None] if "null" in types else [])
