"""A decision record as it reads: generated, edited by people, fixed by publication, exported."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from orchid.engine.verdict.case import digest_of as digest_of_bytes
from releases.models import Override, Proposal, RecordRevision, Rollout
from releases.selectors.record_texts import generated, titles
from releases.selectors.trade import sentence
from releases.states import OPEN_PROPOSALS, WAITING_PROPOSALS, OverrideState

SCHEMA = "orchid.decision-record/v1"

#: At the beginning of a line: a heading, the line under one, and a fence; and what opens a tag.
BLOCK = re.compile(r"^([ \t>]*)(#|=+[ \t]*$|-+[ \t]*$|```|~~~)", re.MULTILINE)
TAG = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(frozen=True)
class Section:
    """One part: what it says, what the facts would say, and who wrote it last, if anybody did."""

    key: str
    title: str
    text: str
    generated: str
    edited_by: str = ""
    edited_at: datetime | None = None

    @property
    def differs(self) -> bool:
        """A person's text stands in place of the generated one."""
        return self.text != self.generated


@dataclass(frozen=True)
class Record:
    """The whole record of one proposal. `since` is what happened after it was fixed."""

    proposal: Proposal
    sections: list[Section]
    revisions: list[RecordRevision]
    fixed_at: datetime | None
    since: list[str]

    @property
    def moved(self) -> bool:
        """The facts say something else than when somebody last wrote into it."""
        if self.fixed_at is not None or not self.revisions:
            return False
        facts = {section.key: section.generated for section in self.sections}
        return self.revisions[-1].generated_digest != digest_of_sections(facts)

    @property
    def number(self) -> int:
        """The revision that it reads from; 0 is generated alone."""
        return self.revisions[-1].number if self.revisions else 0

    @property
    def may_be_edited(self) -> bool:
        """Until publication, and while the proposal is open."""
        return self.fixed_at is None and self.proposal.state in OPEN_PROPOSALS

    @property
    def ends_round(self) -> bool:
        """Whether to write into it now takes away the votes of a round of review."""
        return self.may_be_edited and self.proposal.state in WAITING_PROPOSALS

    @property
    def history(self) -> list[tuple[RecordRevision, list[str]]]:
        """Each revision with the titles of the sections that it changed."""
        names, found = titles(), []
        before: dict[str, str] = {}
        for revision in self.revisions:
            texts = revision.texts
            keys = [key for key in names if texts.get(key) != before.get(key)]
            found.append((revision, [] if revision.final else [names[key] for key in keys]))
            before = texts
        return found

    def as_json(self) -> dict[str, Any]:
        """The record for machines; `digest` is over its sections."""
        row = self.proposal
        sections = [{"key": s.key, "title": s.title, "text": s.text} for s in self.sections]
        return {
            "schema": SCHEMA,
            "product": row.product.slug,
            "proposal": row.pk,
            "generation": row.generation.number,
            "content": row.revision_digest,
            "base": row.base_digest or None,
            "evidence": row.evidence_digest or None,
            "state": row.state,
            "signed": sentence(row.trade) or None,
            "accepted": row.trade.get("accepted", {}),
            "revision": self.number,
            "fixed_at": self.fixed_at.isoformat() if self.fixed_at else None,
            "sections": sections,
            "history": [
                {"revision": r.number, "by": r.written_by, "at": r.at.isoformat(), "changed": names}
                for r, names in self.history
            ],
            "since": self.since,
            "digest": digest_of_sections({s.key: s.text for s in self.sections}),
        }

    def as_markdown(self) -> str:
        """The record for people, as one file."""
        row = self.proposal
        state = f"fixed {self.fixed_at:%Y-%m-%d %H:%M} UTC" if self.fixed_at else "not published"
        lines = [
            f"# {_line(row.title)}",
            f"{_line(row.product.name)}, generation {row.generation.number}, "
            f"proposal {row.pk}: {state}.",
        ]
        for section in self.sections:
            lines += [f"## {section.title}", _within(section.text) or "Nothing."]
        if self.revisions:
            lines += ["## History of this record", _bullets(self._history_lines())]
        if self.since:
            lines += ["## Since publication", _bullets(self.since)]
        return "\n\n".join(lines) + "\n"

    def _history_lines(self) -> list[str]:
        return [
            f"Revision {r.number} by {r.written_by}, {r.at:%Y-%m-%d %H:%M} UTC: "
            + ("fixed by publication" if r.final else ", ".join(names) or "nothing changed")
            for r, names in self.history
        ]


def record_of(proposal: Proposal) -> Record:
    """The record as it stands: fixed texts, else each section as edited or generated."""
    revisions = list(RecordRevision.objects.filter(proposal=proposal).order_by("number"))
    last = revisions[-1] if revisions else None
    fixed = last if last is not None and last.final else None
    facts = dict(fixed.texts) if fixed else generated(proposal)
    texts = facts | (last.texts if last else {})
    hands = _hands(revisions)
    return Record(
        proposal=proposal,
        sections=[
            Section(key, title, texts[key], facts[key], *hands.get(key, ("", None)))
            for key, title in titles().items()
        ],
        revisions=revisions,
        fixed_at=fixed.at if fixed else None,
        since=_since(proposal) if fixed else [],
    )


def digest_of_sections(texts: dict[str, str]) -> str:
    """Names what the sections say, whoever wrote them."""
    return digest_of_bytes(json.dumps(texts, sort_keys=True, ensure_ascii=False).encode())


def _hands(revisions: list[RecordRevision]) -> dict[str, tuple[str, datetime]]:
    """Who wrote each section last: of every edited one, the newest change of its text."""
    hands: dict[str, tuple[str, datetime]] = {}
    before: dict[str, str] = {}
    for revision in revisions:
        if revision.final:
            break
        for key, text in revision.texts.items():
            if before.get(key) != text:
                hands[key] = (revision.written_by, revision.at)
        before = revision.texts
    return hands


def _since(proposal: Proposal) -> list[str]:
    """What the record could not know when it was fixed."""
    told = [
        f"{one.asked_by.get_username()} overrode judgement {one.evaluation_id} (inconclusive) of "
        f"stage {one.stage_index + 1}, publication {one.publication}, confirmed by "
        f"{one.confirmed_by.get_username() if one.confirmed_by else 'nobody'}"
        f" {one.at:%Y-%m-%d %H:%M} UTC: {one.reason}"
        for one in Override.objects.filter(
            rollout__proposal=proposal, state=OverrideState.CONFIRMED
        ).select_related("asked_by", "confirmed_by")
    ]
    rollouts = Rollout.objects.filter(proposal=proposal).select_related("publication")
    for rollout in rollouts:
        state = rollout.get_state_display().lower()
        said = f"The rollout is {state} at publication {rollout.publication.number}"
        told.append(f"{said}: {rollout.reason}" if rollout.reason else said)
    return told


def _bullets(lines: list[str]) -> str:
    return "\n".join(f"- {_line(line)}" for line in lines)


def _line(text: str) -> str:
    """What somebody typed, as part of one line."""
    return _within(" ".join(text.split()))


def _within(text: str) -> str:
    """What somebody typed, so that it begins no heading, no code and no HTML of the whole file."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return BLOCK.sub(r"\1\\\2", TAG.sub(r"\\<", lines))
