"""Helm's answers for charts: runs under a Python 3.12 that has the package helm-python-sdk.

Each line of standard input is {"chart": FOLDER, "values": {...}}; each line of standard output is {"values": {...}},
the values that a template of the chart sees, or {"error": TEXT}.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from helm_python import Chart  # type: ignore[import-not-found]  # only that Python has it


def values_of(chart: str, values: dict[str, Any]) -> Any:
    """The values of the release, by the template templates/values.yaml of the chart."""
    with Chart.load(chart) as loaded:
        for file, text in loaded.render(values=values, name="release").items():
            if file.endswith("/templates/values.yaml") and file.count("/") == 2:
                return json.loads(text)
    raise LookupError(chart)


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = {"values": values_of(asked["chart"], asked["values"])}
    except Exception as error:  # Helm refuses the chart
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
