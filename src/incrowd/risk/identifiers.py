"""The eighteen identifiers of HIPAA's Safe Harbor: what each is called, and how it is looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

# The eighteen identifiers of 45 CFR 164.514(b)(2)(i), and how each is looked for.
NO_COMMON_FORM = "such numbers have no common form"


@dataclass(frozen=True)
class Identifier:
    """One of the eighteen."""

    # as in the regulation
    letter: str
    title: str
    words: frozenset[str]  # words in a column's name that speak for it
    # the same for letters in a row, also across words: ``medicalrecord`` is in ``medical_record_no``
    runs: tuple[str, ...] = ()
    pattern: str | None = None  # what its values look like, if they have a form of their own
    unseen: str | None = None  # why its values cannot be looked for, if they cannot

    def is_named_by(self, name: str) -> bool:
        """Whether the name of a column speaks for it.

        Examples
        --------
        >>> [IDENTIFIERS["H"].is_named_by(name) for name in ("Medical_Record_No", "medicine")]
        [True, False]
        """
        words = words_of(name)
        joined = "".join(words)
        return bool(self.words.intersection(words)) or any(run in joined for run in self.runs)


def words_of(name: str) -> list[str]:
    """The lower-case words of a name, also where capitals part them.

    Examples
    --------
    >>> words_of("dateOfBirth_2"), words_of("ZIP5")
    (['date', 'of', 'birth'], ['zip5'])
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+[0-9]*", parted.lower())


_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_PHONE = (
    r"(?:^|[^\d.,-])(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?:$|\D)"
    r"|(?:^|\s)\+\d[\d ()-]{6,16}\d"
)
_IP = (
    rf"(?:^|[^\d.])(?:{_OCTET}\.){{3}}{_OCTET}(?:$|[^\d.])"
    r"|^(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}$|^[0-9A-Fa-f:]*[0-9A-Fa-f]*::[0-9A-Fa-f]+[0-9A-Fa-f:]*$"
)
_EMAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
_URL = r"(?i)\b(?:https?|ftp)://\S|\bwww\.[a-z0-9-]+\."


def _identifier(
    letter: str, title: str, words: str, runs: str = "", pattern: str | None = None, unseen: str | None = None
) -> Identifier:
    return Identifier(letter, title, frozenset(words.split()), tuple(runs.split()), pattern, unseen)


IDENTIFIERS = {
    one.letter: one
    for one in (
        _identifier(
            "A",
            "names",
            "name names surname firstname lastname fullname forename maiden",
            unseen="names cannot be told from other words",
        ),
        _identifier(
            "B",
            "places smaller than a state",
            "zip zipcode zip5 zip3 zip4 postcode postal plz city town village county district precinct parish street "
            "address geocode latitude longitude lat lon hometown residence",
            "zipcode postcode",
        ),
        _identifier("C", "dates finer than a year, ages over 89", "date dob birthday birthdate", "dateof birthda"),
        _identifier("D", "telephone numbers", "phone telephone tel mobile cellphone", "telephone", pattern=_PHONE),
        _identifier("E", "fax numbers", "fax telefax", unseen="they look like telephone numbers, see there"),
        _identifier("F", "e-mail addresses", "email mail", "emailaddress", pattern=_EMAIL),
        _identifier(
            "G", "social security numbers", "ssn nino", "socialsecurity", r"(?:^|[^\d-])\d{3}-\d{2}-\d{4}(?:$|[^\d-])"
        ),
        _identifier(
            "H",
            "medical record numbers",
            "mrn",
            "medicalrecord recordn recordid patientid patientn chartn",
            unseen=NO_COMMON_FORM,
        ),
        _identifier(
            "I",
            "health plan beneficiary numbers",
            "beneficiary hicn mbi",
            "insurancen insuranceid memberid membern policyn policyid subscriberid healthplanid",
            unseen=NO_COMMON_FORM,
        ),
        _identifier("J", "account numbers", "account iban acct", "accountn", unseen=NO_COMMON_FORM),
        _identifier(
            "K", "certificate and licence numbers", "licence license certificate passport npi", unseen=NO_COMMON_FORM
        ),
        _identifier(
            "L",
            "vehicle identifiers, licence plates",
            "vin plate vehicle",
            "licenseplate licenceplate",
            unseen=NO_COMMON_FORM,
        ),
        _identifier(
            "M",
            "device identifiers, serial numbers",
            "device serial imei udi",
            "serialn deviceid",
            unseen=NO_COMMON_FORM,
        ),
        _identifier("N", "web addresses (URLs)", "url website homepage", pattern=_URL),
        _identifier("O", "IP addresses", "ip", "ipaddress", _IP),
        _identifier(
            "P",
            "biometric identifiers",
            "biometric fingerprint voiceprint retina dna genome",
            unseen="a table of text and numbers does not show what was measured",
        ),
        _identifier(
            "Q", "full-face photographs", "photo photograph image picture portrait", unseen="pictures are not read"
        ),
        _identifier("R", "any other unique number, characteristic or code", "id uuid guid login username"),
    )
}
"""The eighteen, by their letter."""
