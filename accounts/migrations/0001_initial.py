"""People, credentials and the audit trail; and, before any table of ours, the two database roles.

The owner changes tables, the application reads and writes rows. Default privileges make every
later table usable by the application, so a later migration only takes away what an append-only
table must not allow.
"""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

FORWARDS = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'orchid_app') THEN
        BEGIN
            CREATE ROLE orchid_app NOLOGIN;
        EXCEPTION
            WHEN duplicate_object THEN NULL;  -- another database of this server was faster
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'The role orchid_app does not exist and % may not create it',
                    current_user USING HINT = 'Run as a superuser: CREATE ROLE orchid_app LOGIN;';
        END;
    END IF;
END $$;
GRANT USAGE ON SCHEMA public TO orchid_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO orchid_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO orchid_app;
REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM orchid_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO orchid_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO orchid_app;
"""

BACKWARDS = """
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM orchid_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON SEQUENCES FROM orchid_app;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.RunSQL(FORWARDS, BACKWARDS),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "actor_kind",
                    models.CharField(
                        choices=[
                            ("person", "Person"),
                            ("machine", "Machine"),
                            ("system", "Orchid"),
                        ],
                        max_length=8,
                    ),
                ),
                ("actor", models.CharField(max_length=160)),
                ("action", models.CharField(max_length=64)),
                ("product_slug", models.CharField(blank=True, max_length=64)),
                ("object_type", models.CharField(blank=True, max_length=40)),
                ("object_id", models.CharField(blank=True, max_length=80)),
                ("digest_before", models.CharField(blank=True, max_length=80)),
                ("digest_after", models.CharField(blank=True, max_length=80)),
                ("reason", models.TextField(blank=True)),
                ("request_id", models.CharField(blank=True, max_length=64)),
                ("data", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
                ("previous", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
                (
                    "sealed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Credential",
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
                        choices=[("ci", "CI"), ("edge", "Edge"), ("otel", "OpenTelemetry sender")],
                        max_length=8,
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("product_slug", models.CharField(max_length=64)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("prefix", models.CharField(max_length=20)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("product_slug", models.CharField(default="*", max_length=64)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("product_owner", "Product owner"),
                            ("engineer", "Platform engineer"),
                            ("sre", "SRE"),
                            ("auditor", "Auditor"),
                        ],
                        max_length=24,
                    ),
                ),
                (
                    "granted_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
        ),
        migrations.CreateModel(
            name="IdempotentAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("actor", models.CharField(max_length=160)),
                ("key", models.CharField(max_length=128)),
                ("request_digest", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("body", models.JSONField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("email", models.EmailField(max_length=254)),
                ("product_slug", models.CharField(default="*", max_length=64)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("product_owner", "Product owner"),
                            ("engineer", "Platform engineer"),
                            ("sre", "SRE"),
                            ("auditor", "Auditor"),
                        ],
                        max_length=24,
                    ),
                ),
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "email",
                    models.EmailField(blank=True, max_length=254, verbose_name="email address"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                ("display_name", models.CharField(blank=True, max_length=120)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="AuditPending",
            fields=[
                (
                    "event",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        serialize=False,
                        to="accounts.auditevent",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["-at", "-id"], name="audit_newest"),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["product_slug", "-at", "-id"], name="audit_of_product"),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["actor", "-at", "-id"], name="audit_of_actor"),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["object_type", "object_id"], name="audit_of_object"),
        ),
        migrations.AddField(
            model_name="auditseal",
            name="event",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="seal",
                to="accounts.auditevent",
            ),
        ),
        migrations.AddField(
            model_name="credential",
            name="owner",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="credentials",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="grant",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="grants",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="idempotentanswer",
            index=models.Index(fields=["created_at"], name="answers_to_forget"),
        ),
        migrations.AddConstraint(
            model_name="idempotentanswer",
            constraint=models.UniqueConstraint(fields=("actor", "key"), name="one_answer_a_key"),
        ),
        migrations.AddField(
            model_name="invitation",
            name="accepted_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="invited_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="invitations",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="credential",
            constraint=models.UniqueConstraint(
                condition=models.Q(("revoked_at__isnull", True)),
                fields=("product_slug", "kind", "name"),
                name="one_live_credential_by_name",
            ),
        ),
        migrations.AddConstraint(
            model_name="grant",
            constraint=models.UniqueConstraint(
                fields=("user", "product_slug", "role"), name="one_grant_each"
            ),
        ),
        migrations.AddConstraint(
            model_name="grant",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", ["product_owner", "engineer", "sre", "auditor"])),
                name="grant_role_of_a_person",
            ),
        ),
    ]
