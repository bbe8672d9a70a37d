"""What might happen to the fleet, as a value and in the words that people say it with."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from orchid.engine.document.model import PolicyDocument
from orchid.engine.headroom import groups_of

ONE = Decimal(1)
MAX_FACTOR = Decimal(10_000)
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
EXAMPLES = (
    "short_assistant +60%",
    "short_assistant 144/s",
    "spike 1.4",
    "lose group 3",
    "lose 1 group",
    "candidate takes 4 devices",
)


class ScenarioError(ValueError):
    """Words that say no scenario; the message names what was found and what would be right."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A change of load and of capacity; the empty one is steady demand on the whole fleet."""

    factors: Mapping[str, Decimal] = field(default_factory=dict)
    """Multiplies the declared arrivals of a class."""
    arrivals: Mapping[str, Decimal] = field(default_factory=dict)
    """Replaces the declared arrivals of a class, in requests a second."""
    spike: Decimal = ONE
    """Multiplies the arrivals of every class."""
    lost_groups: int = 0
    """Whole device groups that are gone, whichever they are."""
    lost: frozenset[int] = frozenset()
    """Numbers of device groups that are gone, counted from 1."""
    lent_devices: int = 0
    """Devices that a candidate holds."""

    def requests_per_s(self, document: PolicyDocument, cls: str) -> Decimal:
        declared = self.arrivals.get(cls, document.classes[cls].arrivals_per_s)
        return declared * self.factors.get(cls, ONE) * self.spike


def parse_scenario(text: str | Iterable[str], document: PolicyDocument) -> Scenario:
    """Phrases as in EXAMPLES, joined by commas, semicolons, `and` or given one by one.

    Raises ScenarioError: words of no known form, an unknown class (with the nearest names), a
    group or devices that the fleet doesn't have, the same thing said twice.
    """
    whole = text if isinstance(text, str) else ",".join(text)
    phrases = [part.strip() for part in re.split(r"[,;]|\sand\s", whole) if part.strip()]
    if not phrases:
        raise ScenarioError(f"no scenario was given; for example: {'; '.join(EXAMPLES)}")
    scenario = Scenario()
    for phrase in phrases:
        scenario = _with(scenario, phrase, document)
    return _checked(scenario, document)


Reading = Callable[[Scenario, re.Match[str], PolicyDocument], Scenario]


def _with(scenario: Scenario, phrase: str, document: PolicyDocument) -> Scenario:
    for pattern, read in _FORMS:
        if found := pattern.fullmatch(phrase):
            return read(scenario, found, document)
    raise ScenarioError(f"can't read {phrase!r}; for example: {'; '.join(EXAMPLES)}")


def _rise(scenario: Scenario, found: re.Match[str], document: PolicyDocument) -> Scenario:
    percent = _number(found["number"])
    factor = ONE + (percent if found["sign"] == "+" else -percent) / 100
    if factor < 0:
        raise ScenarioError(f"{found[0]!r} takes away more than there is")
    return _factor(scenario, found["name"], factor, document)


def _times(scenario: Scenario, found: re.Match[str], document: PolicyDocument) -> Scenario:
    return _factor(scenario, found["name"], _number(found["number"]), document)


def _factor(scenario: Scenario, name: str, factor: Decimal, document: PolicyDocument) -> Scenario:
    if name.lower() in ("all", "everything", "spike") and name not in document.classes:
        return _spiked(scenario, factor)
    cls = _class(name, scenario, document)
    return replace(scenario, factors={**scenario.factors, cls: factor})


def _rate(scenario: Scenario, found: re.Match[str], document: PolicyDocument) -> Scenario:
    cls = _class(found["name"], scenario, document)
    return replace(scenario, arrivals={**scenario.arrivals, cls: _number(found["number"])})


def _spike(scenario: Scenario, found: re.Match[str], document: PolicyDocument) -> Scenario:
    return _spiked(scenario, _number(found["number"]))


def _spiked(scenario: Scenario, factor: Decimal) -> Scenario:
    if scenario.spike != ONE:
        raise ScenarioError("the rise of everything is given twice")
    return replace(scenario, spike=factor)


def _lose_group(scenario: Scenario, found: re.Match[str], document: PolicyDocument) -> Scenario:
    group, groups = _count(found["number"]), groups_of(document.fleet)
    if not 1 <= group <= groups:
        raise ScenarioError(f"there is no group {group}: the fleet has groups 1 to {groups}")
    if group in scenario.lost:
        raise ScenarioError(f"group {group} is lost twice")
    return replace(scenario, lost=scenario.lost | {group})


def _lose_groups(scenario: Scenario, found: re.Match[str], document: PolicyDocument) -> Scenario:
    return replace(scenario, lost_groups=scenario.lost_groups + _count(found["number"]))


def _lend(scenario: Scenario, found: re.Match[str], document: PolicyDocument) -> Scenario:
    return replace(scenario, lent_devices=scenario.lent_devices + _count(found["number"]))


_NUMBER = r"(?P<number>\d{1,9}(?:\.\d{1,6})?)"
_COUNT = r"(?P<number>\d{1,6}|an?|" + "|".join(_WORDS) + ")"
_NAME = r"(?P<name>[A-Za-z0-9][\w.:/+ -]{0,79}?)"
#: The first form that fits the whole phrase reads it.
_FORMS: tuple[tuple[re.Pattern[str], Reading], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (rf"lose\s+group\s+{_COUNT}", _lose_group),
        (rf"lose\s+{_COUNT}\s+groups?", _lose_groups),
        (rf"candidate\s+takes\s+{_COUNT}\s+devices?", _lend),
        (rf"(?:a\s+)?spike\s+(?:of\s+)?{_NUMBER}\s*x?", _spike),
        (rf"(?:a\s+)?{_NUMBER}\s*x\s+spike", _spike),
        (rf"{_NAME}\s*(?P<sign>[+-])\s*{_NUMBER}\s*%", _rise),
        (rf"{_NAME}\s+x\s*{_NUMBER}", _times),
        (rf"{_NAME}\s+{_NUMBER}\s*x", _times),
        (rf"{_NAME}\s*(?:=|\s)\s*{_NUMBER}\s*/\s*s", _rate),
    )
)


def _number(text: str) -> Decimal:
    value = Decimal(text)
    if value > MAX_FACTOR:
        raise ScenarioError(f"{text} is over {MAX_FACTOR:,}, the largest figure of a scenario")
    return value


def _count(text: str) -> int:
    word = text.lower()
    if word in ("a", "an"):
        return 1
    return _WORDS.index(word) if word in _WORDS else int(word)


def _class(name: str, scenario: Scenario, document: PolicyDocument) -> str:
    """The declared class, by its name or with spaces for its underscores."""
    spoken = {known.replace("_", " ").lower(): known for known in document.classes}
    cls = name if name in document.classes else spoken.get(name.replace("_", " ").lower())
    if cls is None:
        close = difflib.get_close_matches(name, document.classes, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(close)}?" if close else "it has " + _some(document)
        raise ScenarioError(f"the document has no class {name!r}; {hint}")
    if cls in scenario.factors or cls in scenario.arrivals:
        raise ScenarioError(f"the arrivals of {cls} are given twice")
    return cls


def _some(document: PolicyDocument) -> str:
    names = sorted(document.classes)
    return ", ".join(names[:8]) + (" and more" if len(names) > 8 else "")


def _checked(scenario: Scenario, document: PolicyDocument) -> Scenario:
    fleet = document.fleet
    gone = scenario.lost_groups + len(scenario.lost)
    if gone > groups_of(fleet):
        raise ScenarioError(f"{gone} groups are lost, the fleet has {groups_of(fleet)}")
    if scenario.lent_devices > fleet.devices:
        raise ScenarioError(
            f"a candidate can't take {scenario.lent_devices} of {fleet.devices} devices"
        )
    return scenario
