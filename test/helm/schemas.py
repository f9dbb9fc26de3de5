"""Holds manifests strictly against the schemas of releases of Kubernetes, and against those of the kinds that others add.

The input is one JSON document: {"versions": ["1.37"], "definitions": [files], "manifests": [{"title", "manifest"}]}. The
output is one line for each thing that is wrong.
"""
import functools
import json
import sys

import jsonschema
import kubernetes_validate
import yaml
from kubernetes_validate import utils

# Else each manifest would read a megabyte of schemas anew.
utils.schema_contents = functools.lru_cache(maxsize=None)(utils.schema_contents)


def strict(schema):
    """The schema without room for what it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    is_open = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict) and not is_open:
        made["additionalProperties"] = False
    if schema.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
    return made


def defined(files):
    schemas = {}
    for file in files:
        with open(file, encoding="utf-8") as text:
            for document in yaml.safe_load_all(text):
                spec = document["spec"]
                for version in spec["versions"]:
                    schema = strict(version["schema"]["openAPIV3Schema"])
                    # What a cluster adds to every kind.
                    schema["properties"]["metadata"] = {"type": "object"}
                    schemas[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = schema
    return schemas


def problems(manifest, versions, schemas):
    schema = schemas.get((manifest["apiVersion"], manifest["kind"]))
    if schema is not None:
        for error in jsonschema.Draft202012Validator(schema).iter_errors(manifest):
            yield f"{'.'.join(map(str, error.path))}: {error.message}"
        return
    for version in versions:
        try:
            kubernetes_validate.validate(manifest, version, strict=True)
        except jsonschema.ValidationError as error:
            yield f"{version}: {'.'.join(map(str, error.path))}: {error.message}"
        except utils.SchemaNotFoundError as error:
            yield error.message


asked = json.load(sys.stdin)
known = defined(asked["definitions"])
for each in asked["manifests"]:
    for problem in problems(each["manifest"], asked["versions"], known):
        print(f"{each['title']}: {problem}"[:500])
