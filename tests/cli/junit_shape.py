"""What readers of JUnit XML rely on, as checks: elements, attributes, counts."""

from pathlib import Path
from xml.etree import ElementTree as Xml

COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def sound(file: Path) -> Xml.Element:
    """The one suite of a report that every reader takes."""
    root = Xml.fromstring(file.read_bytes())
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    cases = list(suite)
    assert {case.tag for case in cases} == {"testcase"}
    for case in cases:
        assert set(case.attrib) == {"name", "classname", "time"}
        assert case.get("name")
        outcomes = list(case)
        assert len(outcomes) <= 1
        for outcome in outcomes:
            assert outcome.tag in COUNTS.values()
            assert set(outcome.attrib) == {"message", "type"}
            assert "\n" not in str(outcome.get("message"))
    for element in (root, suite):
        assert element.get("tests") == str(len(cases))
        for name, tag in COUNTS.items():
            assert element.get(name) == str(len(suite.findall(f"testcase/{tag}")))
    return suite
