"""One thing that must hold before a stage goes on, and what everything is read from."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from gates.models import Evaluation, Watch
from gates.selectors import window_for
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Stage
from policies.models import Product
from policies.selectors import document_of
from releases.models import Publication, Rollout
from releases.selectors.edges import Acknowledgement, acknowledgement


@dataclass(frozen=True)
class Condition:
    """Whether it holds, in words with its numbers: `now` of `asked`, and a sentence for both.

    `until` is when time alone will have fulfilled it; None where it takes something else. `of` is
    the segment or the stratum whose numbers they are, where there are several.
    """

    name: str
    met: bool
    said: str
    now: str = ""
    asked: str = ""
    until: datetime | None = None
    of: str = ""


@dataclass(frozen=True)
class Stand:
    """A rollout at one moment; whatever several conditions rest on is read once."""

    rollout: Rollout
    now: datetime

    @property
    def product(self) -> Product:
        return self.rollout.product

    @property
    def publication(self) -> Publication:
        return self.rollout.publication

    @property
    def opened_at(self) -> datetime | None:
        """Since when the stage's clock runs."""
        return self.rollout.stage_opened_at

    @cached_property
    def document(self) -> PolicyDocument:
        return document_of(self.rollout.candidate_digest)

    @property
    def stage(self) -> Stage:
        """The stage of everything that does not stand apart."""
        return self.document.rollout.stages[self.rollout.stage_index]

    @cached_property
    def acknowledged(self) -> Acknowledgement:
        share = self.document.rollout.acknowledged_share
        return acknowledgement(self.product, self.publication, share, self.now)

    @cached_property
    def watch(self) -> Watch | None:
        """How the candidate is watched under this publication, with the judgement that holds."""
        window = window_for(self.product, self.publication.number, "candidate")
        return Watch.objects.filter(window=window).select_related("evaluation").first()

    @property
    def evaluation(self) -> Evaluation | None:
        return self.watch.evaluation if self.watch else None
