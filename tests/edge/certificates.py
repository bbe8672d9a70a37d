"""An authority and what it vouches for, made for one test."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

LOOPBACK = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key as files."""

    certificate: Path
    key: Path
    fingerprint: str


class Authority:
    """Vouches for certificates; its own is in `file`."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self.folder, self.name = folder, _named(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        made = self._builder(self.name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        signed = made.add_extension(usage, critical=True).sign(self._key, SHA256())
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(signed.public_bytes(Encoding.PEM))

    def vouches_for(self, name: str, password: str = "") -> Pair:
        """A new certificate for loopback, with its key; the same name writes over the files."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._builder(_named(name), key.public_key()).add_extension(LOOPBACK, critical=False)
        signed = made.sign(self._key, SHA256())
        pair = Pair(
            self.folder / f"{name}.crt",
            self.folder / f"{name}.key",
            signed.fingerprint(SHA256()).hex(),
        )
        pair.certificate.write_bytes(signed.public_bytes(Encoding.PEM))
        sealed: KeySerializationEncryption = (
            BestAvailableEncryption(password.encode()) if password else NoEncryption()
        )
        pair.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed))
        return pair

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder(
                issuer_name=self.name,
                subject_name=subject,
                public_key=key,
                serial_number=x509.random_serial_number(),
                not_valid_before=now - DAY,
                not_valid_after=now + DAY,
            )
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
        )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
