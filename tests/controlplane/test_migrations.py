"""Every model is what its migrations make of it: nothing is left for an operator to write."""

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_no_model_has_moved_ahead_of_its_migrations() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
