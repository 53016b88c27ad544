"""Validates metadata against the schema that the format publishes: check_schema.py SCHEMA METADATA.

Knows the keywords that the schema uses and fails on any other, so that none is silently ignored. Every object of the
schema lists all its keys as required and allows no others: so the keys that the writer writes are those of the schema.
Every definition of the schema must be used by the metadata.
"""

import json
import re
import sys

KEYWORDS = {"$schema", "$defs", "$ref", "title", "description", "type", "enum", "properties", "required",
            "additionalProperties", "items", "prefixItems", "minItems", "minimum", "pattern"}
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and not (name == "integer" and isinstance(value, bool))


class Validator:
    def __init__(self, schema):
        self.root = schema
        self.used = set()

    def check(self, value, schema, path):
        unknown = set(schema) - KEYWORDS
        assert not unknown, f"{path}: the schema uses unknown keywords {unknown}"
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            self.used.add(name)
            return self.check(value, self.root["$defs"][name], path)
        if "type" in schema:
            names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            assert any(is_type(value, name) for name in names), f"{path}: {value!r} is not {names}"
        if "enum" in schema:
            assert value in schema["enum"], f"{path}: {value!r} is not one of {schema['enum']}"
        if "minimum" in schema:
            assert value >= schema["minimum"], f"{path}: {value} is under {schema['minimum']}"
        if "pattern" in schema:
            assert re.search(schema["pattern"], value), f"{path}: {value!r} does not match"
        if isinstance(value, dict):
            self.check_object(value, schema, path)
        if isinstance(value, list):
            self.check_array(value, schema, path)

    def check_object(self, value, schema, path):
        properties = schema["properties"]
        assert set(schema["required"]) == set(properties), f"{path}: not every key is required"
        assert schema["additionalProperties"] is False, f"{path}: other keys are allowed"
        assert list(value) == sorted(properties), f"{path}: keys are {list(value)}, the schema has {sorted(properties)}"
        for key, item in value.items():
            self.check(item, properties[key], f"{path}.{key}")

    def check_array(self, value, schema, path):
        assert len(value) >= schema.get("minItems", 0), f"{path}: too short"
        first = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            self.check(item, first[index] if index < len(first) else schema["items"], f"{path}[{index}]")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        text = file.read()
    validator = Validator(schema)
    validator.check(json.loads(text), schema, "metadata")
    unused = set(schema["$defs"]) - validator.used
    assert not unused, f"the sample has no {unused}: it proves nothing about them"
    canonical = json.dumps(json.loads(text), separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    assert canonical == text, "the metadata is not canonical JSON"
    print(f"{len(text)} bytes of metadata fit the schema, {len(validator.used)} definitions used")


main()
