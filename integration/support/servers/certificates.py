"""A certificate authority for tests, which issues certificates for servers and clients."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

_DAY = datetime.timedelta(days=1)
_HOUR = datetime.timedelta(hours=1)


@dataclass(frozen=True)
class Certificate:
    """PEM files of a certificate and of its private key, which is PKCS#8."""

    file: Path
    key_file: Path


class Authority:
    """Signs certificates; whoever trusts `file` trusts them."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        self._folder = folder
        self._name = _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        limits = x509.BasicConstraints(ca=True, path_length=0)
        certificate = self._builder(self._name, self._key).add_extension(limits, critical=True)
        self.file = self._written(certificate, f"{name}.pem")

    def certificate(self, name: str, *, host: str | None = None, ended: bool = False) -> Certificate:
        """Issue a certificate.

        Args:
            name: Its common name, which is the role of a client.
            host: The name or the IP address of the server it is good for.
            ended: Whether it has expired.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(name), key, until=-_HOUR if ended else _DAY)
        if host:
            builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=False)
        key_file = self._folder / f"{name}.key"
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return Certificate(self._written(builder, f"{name}.pem"), key_file)

    def _builder(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, until: datetime.timedelta = _DAY
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder().issuer_name(self._name).subject_name(name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now - _DAY).not_valid_after(now + until)

    def _written(self, builder: x509.CertificateBuilder, file_name: str) -> Path:
        file = self._folder / file_name
        file.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return file


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
