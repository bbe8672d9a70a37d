"""What happens in a room below and concerns us."""

from typing import Any

from django.dispatch import receiver

from accounts.models import Credential
from accounts.services.rotation import rotated
from releases.models import Edge


@receiver(rotated)
def follow(older: Credential, newer: Credential, **_: Any) -> None:
    """An edge is known by the newer one at once, whichever page replaced it."""
    Edge.objects.filter(credential=older).update(credential=newer, former_credential=older)
