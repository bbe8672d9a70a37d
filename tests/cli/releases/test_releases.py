"""A change from draft to rollback at a terminal."""

import json
import re
from typing import Any

import click
import pytest
from django.utils import timezone

from policies.models import Product
from releases.models import Comment, Edge, SecondLook, Webhook
from releases.states import NoticeKind
from tests.cli.releases.terminal import Orchid
from tests.releases import releases_cast as cast

pytestmark = pytest.mark.django_db(transaction=True)


def state(row: Any) -> str:
    row.refresh_from_db()
    return str(row.state)


def test_a_proposal_is_reviewed_and_published_by_those_who_may(
    orchid: Orchid, product: Product
) -> None:
    row = cast.drafted(product)
    assert orchid(f"proposal submit {row.pk}", "ana")[0] == 0
    code, shown, _ = orchid(f"proposal show {row.pk}", "ben")
    assert (code, "To sign: against" in shown or "To sign: nothing" in shown) == (0, True)
    bound = json.loads(orchid(f"proposal show {row.pk} --json", "ben")[1])["bound_digest"]
    for who in ("ben", "dee"):
        line = f"proposal approve {row.pk} --reason measured --bound {bound}"
        assert orchid(line, who)[0] == 0
    assert state(row) == "approved"
    assert orchid(f"proposal publish {row.pk}")[0] == 0
    assert state(row) == "published"
    code, out, _ = orchid("publications")
    assert (code, "2       publish" in out) == (0, True)
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", out)


def test_figures_are_read_before_they_are_signed(
    orchid: Orchid, product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = cast.in_review(product)
    code, _, err = orchid(f"proposal approve {row.pk} --reason fine", "ben")
    assert (code, "Nobody is there to read it" in err, "To sign:" in err) == (3, True, True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: True)
    assert orchid(f"proposal approve {row.pk} --reason fine", "ben")[0] == 0
    stale = orchid(f"proposal approve {row.pk} --reason fine --bound sha256:0", "dee")
    assert (stale[0], state(row)) == (3, "in_review")
    assert orchid(f"proposal reject {row.pk} --reason dear", "dee")[0] == 0
    assert state(row) == "rejected"


def test_a_machine_votes_at_no_terminal(orchid: Orchid, product: Product) -> None:
    row = cast.in_review(product)
    code, out, err = orchid(f"proposal approve {row.pk} --reason fine --bound sha256:0", "ci")
    assert (code, out) == (3, "")
    assert "approve" in err
    assert state(row) == "in_review"
    assert not row.votes.exists()


def test_what_surrounds_the_votes_is_typed_too(orchid: Orchid, product: Product) -> None:
    row = cast.in_review(product)
    when = "--at 2027-03-01T09:00 --zone Europe/Berlin"
    assert "2027-03-01T09:00 Europe/Berlin" in orchid(f"proposal schedule {row.pk} {when}")[1]
    twice = orchid(f"proposal schedule {row.pk} --at 2026-03-29T02:30 --zone Europe/Berlin")
    assert (twice[0], "time_does_not_exist" in twice[2]) == (3, True)
    assert orchid(f"proposal schedule {row.pk} --lift")[0] == 0
    assert orchid(f"proposal schedule {row.pk}")[0] == 3
    assert orchid(f"proposal comment {row.pk} 'Why now?'")[0] == 0
    assert "Why now?" in orchid(f"proposal comment {row.pk}", "eve")[1]
    assert orchid(f"proposal card {row.pk}")[0] in (0, 1)
    assert orchid(f"proposal record {row.pk}")[1].startswith("#")
    assert "in_review" in orchid("proposal list --state in_review", "ci")[1]
    assert orchid(f"proposal withdraw {row.pk} --reason late", "ana")[0] == 0
    assert state(row) == "withdrawn"


def test_a_rebase_lists_what_both_changed_and_takes_choices(
    orchid: Orchid, product: Product
) -> None:
    mine = cast.in_review(
        product, stages=[{"canary": 0.3, "hold": "20s"}, {"canary": 1.0, "hold": "5s"}]
    )
    cast.published(product, stages=[{"canary": 0.5, "hold": "20s"}, {"canary": 1.0, "hold": "9s"}])
    shown = orchid(f"proposal show {mine.pk}", "ben")[1]
    assert ("would be taken back" in shown, f"proposal rebase {mine.pk}" in shown) == (True, True)
    code, out, _ = orchid(f"proposal rebase {mine.pk}", "ana")
    assert (code, "/rollout/stages" in out, "--mine POINTER" in out) == (1, True, True)
    pointers = [
        one["pointer"]
        for one in json.loads(orchid(f"proposal rebase {mine.pk} --look --json", "ana")[1])[
            "collisions"
        ]
    ]
    line = " ".join(f"--mine {pointer}" for pointer in pointers)
    assert orchid(f"proposal rebase {mine.pk} {line}", "ana")[0] == 0
    again = orchid(f"proposal rebase {mine.pk}", "ana")
    assert (again[0], "nothing to rebase" in again[1]) == (0, True)
    assert "would be taken back" not in orchid(f"proposal show {mine.pk}", "ben")[1]


def test_a_rollout_is_held_and_sent_on_by_an_operations_token(
    orchid: Orchid, product: Product
) -> None:
    row = cast.published(product)
    assert "Everything: stage 1" in orchid("rollout show", "ci")[1]
    assert orchid("rollout pause --reason 'odd p95'", "ops")[0] == 0
    assert state(row) == "paused"
    assert orchid("rollout wait --timeout 0", "ci")[0] == 2
    refused = orchid("rollout resume --reason 'looks well'", "ops")
    assert (refused[0], "forbidden" in refused[2]) == (3, True)
    assert orchid("rollout resume --reason 'looks well'")[0] == 0
    early = orchid(f"rollout advance {row.pk}")
    assert (early[0], "(" in early[2]) == (3, True)
    assert orchid("rollback --ready", "ops")[0] in (0, 1, 2)
    assert orchid("rollback --reason 'worse than before'", "ops")[0] == 0
    assert orchid("rollout wait", "ci")[0] == 1
    assert "rolled_back" in orchid("rollout list", "ci")[1]


def test_an_emergency_is_looked_at_by_somebody_else(orchid: Orchid, product: Product) -> None:
    row = cast.drafted(product)
    unread = orchid(f"emergency publish {row.pk} --reason 'the fleet is gone'")
    assert (unread[0], row.revision_digest in unread[2]) == (3, True)
    read = f"--digest {row.revision_digest}"
    done = orchid(f"emergency publish {row.pk} {read} --reason 'the fleet is gone'")
    assert (done[0], "second-look list" in done[1], state(row)) == (0, True, "published")
    look = SecondLook.objects.get()
    own = orchid(f"second-look confirm {look.pk} --reason mine")
    assert (own[0], state(look)) == (3, "open")
    assert orchid(f"second-look confirm {look.pk} --reason 'I agree'", "ben")[0] == 0
    assert state(look) == "confirmed"
    capped = orchid("emergency cap acme --window 1h --max-usd 12.50 --reason 'a loop'")
    assert capped[0] == 0
    assert orchid("emergency cap acme --window 1h --reason 'a loop'")[0] == 3
    look = SecondLook.objects.latest("id")
    assert orchid(f"second-look revert {look.pk} --reason 'a customer'", "cho")[0] == 0
    assert "reverted" in orchid("second-look list", "eve")[1]


def test_an_edge_is_registered_replaced_and_retired(orchid: Orchid, product: Product) -> None:
    code, out, _ = orchid("edge register edge-8", "ben")
    assert (code, "orc_edge_" in out) == (0, True)
    cast.edge(product, "edge-9")
    code, out, err = orchid("edge rotate edge-9 --reason leaked --overlap 0 --json", "ben")
    assert (code, err) == (0, "")
    new = json.loads(out)
    assert new["token"].startswith("orc_edge_")
    assert orchid("edge share edge-9 2 --reason 'a bigger site'", "ben")[0] == 0
    assert "edge-9" in orchid("edge list", "ci")[1]
    assert orchid("edge revoke edge-9 --reason stolen", "ben")[0] == 0
    assert "sequences_open" in orchid("edge retire edge-9 --reason gone", "ben")[2]
    assert orchid("edge retire edge-9 --abandon --reason gone", "ben")[0] == 0
    assert Edge.objects.get(name="edge-9").retired_at is not None
    assert "is retired" in orchid("edge rotate edge-9 --reason again", "ben")[2]
    assert "has no edge nobody" in orchid("edge rotate nobody --reason again", "ben")[2]


def test_a_list_is_read_page_by_page(orchid: Orchid, product: Product) -> None:
    proposal = cast.drafted(product)
    Comment.objects.bulk_create(
        Comment(proposal=proposal, round=1, author="ana", text=f"say {number}", at=timezone.now())
        for number in range(51)
    )
    line = f"proposal comment {proposal.pk}"
    code, out, _ = orchid(line, "ci")
    assert (code, "say 50" in out, "say 0" in out) == (0, True, False)
    code, out, _ = orchid(f"{line} {out.strip().rpartition('More: ')[2]}", "ci")
    assert (code, "say 0" in out, "More" in out) == (0, True, False)


@pytest.mark.parametrize(
    "group", ["edge", "proposal", "rollout", "second-look", "webhook", "notice"]
)
def test_every_list_that_has_pages_takes_the_next_one(orchid: Orchid, group: str) -> None:
    code, _, err = orchid(f"{group} list --cursor nonsense", "ben")
    assert (code, "cursor" in err) == (3, True)


def test_a_pool_that_serves_is_kept_and_an_address_is_told(
    orchid: Orchid, product: Product
) -> None:
    assert "generation" in orchid("pool list", "ci")[1]
    kept = orchid("pool release 1 --reason 'no use'")
    assert (kept[0], "pool_serves" in kept[2]) == (3, True)
    assert orchid("pool release 9 --reason 'no use'")[0] == 3
    code, out, _ = orchid("webhook add https://hooks.example.com/x", "ben")
    assert (code, "shown this once" in out) == (0, True)
    hook = Webhook.objects.get()
    assert set(hook.kinds) == set(NoticeKind.values)  # all there are, without saying so
    told = orchid("webhook list", "ben")[1]
    assert "hooks.example.com" in told
    assert ", ".join(hook.kinds) in told  # words, and no list of a programming language
    assert orchid(f"webhook end {hook.pk}", "ben")[0] == 0


def test_an_override_is_asked_by_one_and_confirmed_by_another(
    orchid: Orchid, product: Product
) -> None:
    cast.published(product)
    refused = orchid("rollout override --evaluation 999 --reason 'good enough'")
    assert (refused[0], "(" in refused[2]) == (3, True)
    assert orchid("rollout confirm-override 999")[0] == 3
    assert "no decision was made twice" in orchid("rollout shadow", "ci")[1]
