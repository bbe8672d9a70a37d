"""How an edge shows who it is by a certificate, and whom it believes to be the control plane."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import httpx


class TlsError(ValueError):
    """The files that were named can't be used, in words for whoever starts the edge."""


@dataclass(frozen=True)
class Tls:
    """Files in PEM form. The key may be in the certificate's file; no authority is the system's."""

    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None

    def context(self) -> ssl.SSLContext:
        """What every call to the control plane is made with; raises TlsError.

        Read anew by `renew`, so that a certificate can be replaced without a restart.
        """
        if self.key and not self.certificate:
            raise TlsError("A key was given and no certificate: name both, or neither.")
        context = self._believing()
        self.renew(context)
        return context

    def renew(self, context: ssl.SSLContext) -> None:
        """Show what is in the files now, from the next connection on; raises TlsError."""
        if self.certificate is None:
            return
        try:
            # Tried apart: a certificate without its key would take away the one that is shown.
            for one in (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), context):
                one.load_cert_chain(self.certificate, self.key, password=_none_given)
        except (OSError, ValueError) as wrong:  # ssl.SSLError is an OSError
            named = f"{self.certificate}" + (f" with {self.key}" if self.key else "")
            raise TlsError(
                f"{named} is no certificate with its key in PEM form, without a password: "
                f"{getattr(wrong, 'reason', None) or wrong}"
            ) from wrong

    def state(self) -> tuple[float, ...]:
        """When the files were written, to see whether they are others by now; none is zero."""
        return tuple(_written(file) for file in (self.certificate, self.key) if file)

    def _believing(self) -> ssl.SSLContext:
        if self.authority is None:
            return httpx.create_ssl_context()
        try:
            return ssl.create_default_context(cafile=str(self.authority))
        except OSError as wrong:
            raise TlsError(f"{self.authority} holds no authority in PEM form: {wrong}") from wrong


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0  # being replaced at this moment


def _none_given() -> bytes:
    """Asked for by OpenSSL where a key is encrypted; a prompt would hang a service."""
    raise ValueError("the key is encrypted")
