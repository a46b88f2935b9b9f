"""JUnit XML, for systems that show tests. It knows no points: an extra, not the record."""

from __future__ import annotations

from xml.etree import ElementTree

from grader.formats.escape import xml
from grader.formats.reading import Check, Record


def write(record: Record) -> str:
    root = ElementTree.Element("testsuites", {"name": "matmul", **_counts(record.checks)})
    for exercise in record.exercises:
        suite = ElementTree.SubElement(
            root, "testsuite", {"name": xml(exercise.name), **_counts(exercise.checks)}
        )
        for check in exercise.checks:
            _case(suite, check)
    ElementTree.indent(root, " ")
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _counts(checks: tuple[Check, ...]) -> dict[str, str]:
    def count(*statuses: str) -> str:
        return str(sum(check.status in statuses for check in checks))

    return {
        "tests": str(len(checks)),
        "failures": count("fail"),
        "errors": count("grader_error"),
        "skipped": count("skipped", "not_graded"),
        "time": f"{sum(check.seconds for check in checks):.3f}",
    }


def _case(suite: ElementTree.Element, check: Check) -> None:
    name = xml(check.name.replace("_", " "))
    case = ElementTree.SubElement(
        suite, "testcase", classname=xml(check.exercise), name=name, time=f"{check.seconds:.3f}"
    )
    kind = {"fail": "failure", "grader_error": "error"}.get(check.status, "skipped")
    if check.passed:
        return
    first = (check.message or check.reason).partition("\n")[0]
    detail = ElementTree.SubElement(case, kind, message=xml(first))
    if check.why:
        detail.text = xml(check.why)
