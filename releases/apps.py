"""The room that answers: who decided, and what is live?"""

from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    """Proposals, reviews, publications, rollouts, rollback, reconciliation and edges."""

    name = "releases"
    verbose_name = "Releases"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from releases import heard  # noqa: F401 (its receivers)
