"""A release that is there already gets a signature: what its certificate states is recounted first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from incrowd.errors import OutputError, VerificationError
from incrowd.releases.certified.checking import check_release
from incrowd.releases.certified.consistency import check_written
from incrowd.releases.certified.statements import CertificateVerdict
from incrowd.report.signature import private_key, signed
from incrowd.tables.publishing.staging import staged
from incrowd.vocabulary.certificates import certificate_beside, read_certificate


def sign_release(release: str | Path, key: str | Path) -> tuple[dict[str, Any], CertificateVerdict]:
    """Sign the certificate beside a release with a private key, unless something of it does not hold.

    Gives the certificate as it is written now, and what was counted before. A promise to persons whose rows are not
    told apart in the release stays open, as it does for everybody who has nothing but the release.
    """
    path = certificate_beside(Path(release))
    certificate = read_certificate(path)
    if "signature" in certificate:
        raise OutputError(
            f"{path.name} is signed already, by the key {certificate['signature']['key_id']}. Release once more to "
            "have it signed by another."
        )
    private_key(key)  # before all rows are counted
    verdict = check_release(release, certificate)
    if verdict.failed:
        raise VerificationError(f"{verdict.summary} Nothing was signed.")
    certificate = signed(certificate, key)
    with staged(path) as draft:
        draft.write_text(json.dumps(certificate, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        check_written(certificate, draft)
    return certificate, verdict
