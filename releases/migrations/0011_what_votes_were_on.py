"""The content of each vote, and the written part of a decision record as the votes bind it."""

from hashlib import sha256
from typing import Any

import rfc8785
from django.db import migrations, models


def fill(apps: Any, _schema: Any) -> None:
    """A vote whose digest follows from its proposal as stored was on that content.

    Of any other it isn't known any more what it was on, and so it travels with nothing.
    """
    votes = apps.get_model("releases", "Vote").objects.filter(void=False)
    for vote in votes.select_related("proposal"):
        row = vote.proposal
        if vote.round == row.round and vote.bound_digest == _bound(row):
            vote.content_digest = row.revision_digest
            vote.save(update_fields=["content_digest"])


def _bound(row: Any) -> str:
    bound = {
        "content": row.revision_digest,
        "base": row.base_digest,
        "evidence": row.evidence_digest,
        "trade": row.trade_digest,
        "required": row.required,
        "round": row.round,
    }
    if row.publish_at is not None:
        bound["schedule"] = [row.publish_local, row.publish_zone, str(row.publish_at)]
    return "sha256:" + sha256(rfc8785.dumps(bound)).hexdigest()


class Migration(migrations.Migration):
    dependencies = [("releases", "0010_told_and_abandoned")]
    operations = [
        migrations.AddField(
            "proposal", "record_digest", models.CharField(blank=True, default="", max_length=71)
        ),
        migrations.AddField(
            "vote", "content_digest", models.CharField(blank=True, default="", max_length=71)
        ),
        migrations.AlterField(
            "contributor",
            "part",
            models.CharField(
                choices=[
                    ("author", "the author"),
                    ("co_editor", "a co-editor"),
                    ("token_owner", "the owner of the service token that wrote it"),
                    ("scheduler", "who set the time"),
                    ("recorder", "who wrote in its decision record"),
                ],
                max_length=12,
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
