"""Mails to one person. What they tell of has happened, whether or not a server takes them."""

import logging
from email.errors import MessageError
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)


def mailed(address: str, subject: str, template: str, context: dict[str, Any]) -> bool:
    """Whether a server took it; False also for somebody without an address."""
    if not address:
        return False
    text = render_to_string(template, context)
    try:
        send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [address])
    except (SMTPException, OSError, ValueError, MessageError):  # ours, or theirs, is no address
        logger.exception("a mail was not sent: %s", subject)
        return False
    return True
