"""A second look that is owed, a time to publish at, why a round ended, and what was said.

What was said stays as it was said; that a look was owed is never taken away.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FORWARDS = """
CREATE TRIGGER comment_stays BEFORE UPDATE OR DELETE ON releases_comment
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON releases_comment FROM orchid_app;
REVOKE DELETE, TRUNCATE ON releases_secondlook FROM orchid_app;
"""

BACKWARDS = """
DROP TRIGGER comment_stays ON releases_comment;
GRANT UPDATE, DELETE ON releases_comment TO orchid_app;
GRANT DELETE ON releases_secondlook TO orchid_app;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_append_only"),
        ("policies", "0002_immutable"),
        ("releases", "0002_publications_stay"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("round", models.PositiveIntegerField()),
                ("author", models.CharField(max_length=150)),
                ("text", models.TextField()),
                ("at", models.DateTimeField()),
            ],
            options={
                "ordering": ["at", "id"],
            },
        ),
        migrations.CreateModel(
            name="SecondLook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("emergency_publish", "Emergency publish"),
                            ("emergency_cap", "Emergency cap on a tenant"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Waits for a second look"),
                            ("overdue", "Second look overdue"),
                            ("confirmed", "Confirmed"),
                            ("reverted", "Reverted"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("asked_of", models.JSONField(default=list)),
                ("actor", models.CharField(max_length=150)),
                ("reason", models.TextField()),
                ("opened_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("looked_by", models.CharField(blank=True, default="", max_length=150)),
                ("looked_at", models.DateTimeField(null=True)),
                ("words", models.TextField(blank=True, default="")),
            ],
            options={
                "ordering": ["-opened_at", "-id"],
            },
        ),
        migrations.AddField(
            model_name="proposal",
            name="publish_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="proposal",
            name="publish_local",
            field=models.CharField(blank=True, default="", max_length=25),
        ),
        migrations.AddField(
            model_name="proposal",
            name="publish_zone",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.AddField(
            model_name="proposal",
            name="returned_why",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AddField(
            model_name="vote",
            name="void_why",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="contributor",
            name="part",
            field=models.CharField(
                choices=[
                    ("author", "the author"),
                    ("co_editor", "a co-editor"),
                    ("token_owner", "the owner of the service token that wrote it"),
                    ("scheduler", "who set the time"),
                ],
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="publication",
            name="kind",
            field=models.CharField(
                choices=[
                    ("publish", "Publish"),
                    ("advance", "Advance"),
                    ("pause", "Pause"),
                    ("resume", "Resume"),
                    ("rollback", "Rollback"),
                    ("price_change", "Price change"),
                    ("emergency", "Emergency"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            model_name="proposal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("publish_at__isnull", True), ("publish_local", ""), ("publish_zone", "")
                    ),
                    models.Q(
                        ("publish_at__isnull", False),
                        models.Q(("publish_local", ""), _negated=True),
                        models.Q(("publish_zone", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="releases_proposal_schedule",
            ),
        ),
        migrations.AddField(
            model_name="comment",
            name="author_user",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="comment",
            name="proposal",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="comments",
                to="releases.proposal",
            ),
        ),
        migrations.AddField(
            model_name="secondlook",
            name="actor_user",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="secondlook",
            name="product",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="second_looks",
                to="policies.product",
            ),
        ),
        migrations.AddField(
            model_name="secondlook",
            name="publication",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="second_look",
                to="releases.publication",
            ),
        ),
        migrations.AddIndex(
            model_name="comment",
            index=models.Index(fields=["proposal", "at", "id"], name="releases_comments"),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="releases_comment_text"
            ),
        ),
        migrations.AddIndex(
            model_name="secondlook",
            index=models.Index(
                condition=models.Q(("state__in", ("open", "overdue"))),
                fields=["product", "due_at"],
                name="releases_second_look_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="secondlook",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "overdue", "confirmed", "reverted"])),
                name="releases_second_look_state",
            ),
        ),
        migrations.AddConstraint(
            model_name="secondlook",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["emergency_publish", "emergency_cap"])),
                name="releases_second_look_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="secondlook",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True),
                name="releases_second_look_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="secondlook",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("state__in", ("open", "overdue")),
                    models.Q(
                        ("looked_at__isnull", False),
                        models.Q(("looked_by", ""), _negated=True),
                        models.Q(("words", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="releases_second_look_said",
            ),
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
