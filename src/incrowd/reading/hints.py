"""What the name of a column suggests about its role."""

from __future__ import annotations

import re

from incrowd.vocabulary.schema import Role

# Each word may be a part of a name (as in patient_id) or the whole of it.
_IDENTIFIER = """
    id uuid guid ssn nino nhs mrn passport email mail phone telephone mobile fax name surname firstname
    lastname fullname forename username login iban account licence license plate vin ip url address
    street
    """
_QUASI_IDENTIFIER = """
    age birth birthday birthdate dob yob born sex gender zip zipcode zip5 postcode postal plz city town
    village county district state province region country nationality citizenship native race ethnicity
    ethnic colour religion language occupation job profession workclass employer employment education
    degree school marital civil relationship family household children kids military veteran housing
    hometown residence location admission discharge death height
    """
_SENSITIVE = """
    disease diagnosis diagnose icd icd9 icd10 condition symptom illness disorder hiv cancer drug
    medication treatment therapy prescription salary income wage wages earnings debt credit crime
    conviction offence offense orientation politics political party vote union disability mental abuse
    """
_TARGET = ("class", "target", "label", "outcome", "y", "response")

_WORDS = {
    Role.IDENTIFIER: frozenset(_IDENTIFIER.split()),
    Role.SENSITIVE: frozenset(_SENSITIVE.split()),
    Role.QUASI_IDENTIFIER: frozenset(_QUASI_IDENTIFIER.split()),
}


def is_target_name(name: str) -> bool:
    """Whether a column of this name is usually the class.

    Examples
    --------
    >>> is_target_name("Class"), is_target_name("classroom")
    (True, False)
    """
    return name.strip().lower() in _TARGET


def role_by_name(name: str) -> Role | None:
    """The role that a word in the name suggests, if any.

    Examples
    --------
    >>> role_by_name("patientId"), role_by_name("date_of_birth"), role_by_name("x7")
    (<Role.IDENTIFIER: 'identifier'>, <Role.QUASI_IDENTIFIER: 'quasi-identifier'>, None)
    """
    words = set(_split(name))
    return next((role for role, known in _WORDS.items() if words & known), None)


def _split(name: str) -> list[str]:
    """Lower-case words of a name, also where capitals part them, and the name as one word."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = re.findall(r"[a-z]+[0-9]*", parted.lower())
    return [*words, "".join(words)]
