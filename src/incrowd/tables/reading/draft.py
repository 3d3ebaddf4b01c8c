"""A first schema from the data: a type and a role for every column, each with its reason.

A draft is a proposal for a person to correct. Where nothing speaks for another role, a column is drafted as
quasi-identifier: to forget one is a leak, to name one too many costs a little accuracy.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import HeaderError
from incrowd.tables.reading.convert import TRUTH, parse_dates
from incrowd.tables.reading.source import EXACT, Source, present, repeating
from incrowd.vocabulary.schema import STATED, Column, ColumnType, Role, Schema, unknown_column

# What the name of a column suggests about its role, in English, German, French and Spanish, without accents.
# Each word may be a part of a name (as in patient_id) or the whole of it.
_IDENTIFIER = """
    id uuid guid ssn nino nhs mrn passport email mail phone telephone mobile fax name surname firstname
    lastname fullname forename username login iban account licence license plate vin ip url address
    street nr nummer strasse telefon handy konto kennzeichen nom prenom adresse telephone numero rue courriel nombre
    apellido apellidos direccion telefono correo calle dni
    pid uid cid sid patid subjid usubjid custid hhid patientid personid clientid customerid memberid studentid userid
    subjectid
    """
_IDENTIFIER_ENDINGS = ("nummer", "nr", "name", "adresse", "strasse")  # of German words: Patientennr, Nachname
_QUASI_IDENTIFIER = """
    age birth birthday birthdate dob yob born sex gender zip zipcode zip5 postcode postal plz city town
    village county district state province region country nationality citizenship native race ethnicity
    ethnic colour religion language occupation job profession workclass employer employment education
    degree school marital civil relationship family household children kids military veteran housing
    hometown residence location admission discharge death height
    alter geburt geburtsdatum geburtstag geburtsjahr geburtsort geschlecht postleitzahl ort wohnort stadt gemeinde kreis
    bundesland land staat staatsangehorigkeit nationalitat herkunft sprache konfession beruf ausbildung abschluss
    bildung familienstand kinder haushalt aufnahme aufnahmedatum entlassung entlassungsdatum tod sterbedatum grosse
    sexe naissance postal ville commune departement pays nationalite langue metier etudes enfants foyer deces taille
    edad sexo nacimiento codigo ciudad municipio provincia pais nacionalidad idioma profesion ocupacion estudios
    estado hijos hogar ingreso alta defuncion estatura
    """
_SENSITIVE = """
    disease diagnosis diagnose icd icd9 icd10 condition symptom illness disorder hiv cancer drug
    medication treatment therapy prescription salary income wage wages earnings debt credit crime
    conviction offence offense orientation politics political party vote union disability mental abuse
    krankheit erkrankung befund medikament behandlung therapie einkommen gehalt lohn schulden behinderung vorstrafe
    diagnostic maladie medicament traitement revenu salaire dette handicap condamnation
    diagnostico enfermedad medicamento tratamiento ingresos salario deuda discapacidad condena
    """
_TARGET = ("class", "target", "label", "outcome", "y", "response")

_WORDS = {
    Role.IDENTIFIER: frozenset(_IDENTIFIER.split()),
    Role.SENSITIVE: frozenset(_SENSITIVE.split()),
    Role.QUASI_IDENTIFIER: frozenset(_QUASI_IDENTIFIER.split()),
}


def is_target_name(name: str) -> bool:
    """Whether a column of this name is usually the class."""
    return name.strip().lower() in _TARGET


def role_by_name(name: str) -> Role | None:
    """The role that a word in the name suggests, if any.

    Examples
    --------
    >>> role_by_name("patientId"), role_by_name("date_of_birth"), role_by_name("x7")
    (<Role.IDENTIFIER: 'identifier'>, <Role.QUASI_IDENTIFIER: 'quasi-identifier'>, None)
    >>> role_by_name("Patientennr"), role_by_name("Gr\u00f6\u00dfe"), role_by_name("Pr\u00e9nom")
    (<Role.IDENTIFIER: 'identifier'>, <Role.QUASI_IDENTIFIER: 'quasi-identifier'>, <Role.IDENTIFIER: 'identifier'>)
    """
    words = set(_split(name))
    if any(word.endswith(_IDENTIFIER_ENDINGS) for word in words):
        return Role.IDENTIFIER
    return next((role for role, known in _WORDS.items() if words & known), None)


def _split(name: str) -> list[str]:
    """Lower-case words of a name without accents, also where capitals part them, and the name as one word."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plain)
    words = re.findall(r"[a-z]+[0-9]*", parted.casefold())
    return [*words, "".join(words)]


_CLASSES = 20  # a last column of more values is hardly a class
_LOOK = 1000  # values that are tried first: most columns of text fail there already
_LEADING_ZERO = r"^0[0-9]+$"
_DIGITS = r"^[+-]?[0-9]+$"
_WHOLE = r"^[+-]?(0|[1-9][0-9]*)(\.0*)?$"
_COMMA = r"^[+-]?[0-9]+(,[0-9]+)?$"
_THOUSANDS = r"^[+-]?[0-9]{1,3}(,[0-9]{3})?$"
_FREE_TEXT = 50


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of a column before its role is guessed: its rows, those with a value, its distinct values."""

    name: str
    rows: int
    present: int
    distinct: int

    @property
    def is_unique(self) -> bool:
        """Whether every row has a value of its own."""
        return self.distinct == self.present == self.rows > 1

    @property
    def repeats(self) -> bool:
        """Whether a value has more than two rows on average."""
        return 2 * self.distinct < self.present

    @property
    def is_mostly_unique(self) -> bool:
        """Whether there are many values of few rows."""
        return self.distinct > _FREE_TEXT and 2 * self.distinct > self.present


def draft_schema(source: Source, *, target: str | None = None) -> Schema:
    """Draft type and role of every column from its values, its name and what the file declares.

    If the class is not named, it is a column with a usual name, or the last one if it has few values.
    """
    frame = source.frame
    if target is not None and target not in frame.columns:
        raise HeaderError(unknown_column(target, frame.columns))
    declared = {column.name: column for column in source.declared}
    values = _values(source)
    facts = [
        ColumnFacts(series.name, frame.height, len(present(series)), len(values[series.name]))
        for series in frame.iter_columns()
    ]
    typed = [declared.get(fact.name) or draft_type(values[fact.name], fact) for fact in facts]
    chosen = target or _target_name(facts)
    pairs = zip(typed, facts, strict=True)
    return Schema(tuple(_with_role(column, fact, chosen, target) for column, fact in pairs))


def _values(source: Source) -> dict[str, pl.Series]:
    """The distinct values of every column; those of columns that repeat theirs are kept for the encoding."""
    distinct = source.distinct(repeating(source.frame))
    return {
        series.name: distinct[series.name].values if series.name in distinct else present(series.unique())
        for series in source.frame.iter_columns()
    }


_WORDS_FOR_MISSING = (
    *("n/a", "N/A", "#N/A", "NA", "na", "n.a.", "nan", "NaN", "NULL", "null", "None", "none", "-", "--", "."),
    *("unknown", "missing", "k.A.", "k. A.", "keine Angabe", "unbekannt", "entf\u00e4llt", "s.o.", "inconnu"),
    "desconocido",
)
_CODES_FOR_MISSING = ("99", "999", "9999", "99999", "-1", "-9", "-99", "-999", "-9999")


def missing_words(source: Source) -> tuple[str, ...]:
    """Words of text columns that probably mean missing: usual ones, and codes far beyond all other numbers."""
    words: set[str] = set()
    for series in source.frame.iter_columns():
        if series.dtype == pl.String:
            texts = present(series.str.strip_chars().unique())
            likely = [*_WORDS_FOR_MISSING, *_codes(texts.cast(pl.Float64, strict=False))]
            some = texts.filter(texts.is_in(likely)).to_list()
            words |= set(some) if len(some) < len(texts) else set()
    return tuple(sorted(words))


def _codes(numbers: pl.Series) -> list[str]:
    """Codes that stand apart: every other number is less than half as far from zero, and none but codes is negative."""
    known = numbers.drop_nulls()
    others = known.filter(~known.is_in([float(code) for code in _CODES_FOR_MISSING]))
    if others.is_empty():
        return []
    most, least = float(others.abs().max() or 0), float(others.min() or 0)  # type: ignore[arg-type]
    return [code for code in _CODES_FOR_MISSING if (float(code) > 2 * most) or (float(code) < 0 <= least and most > 0)]


def draft_type(values: pl.Series, fact: ColumnFacts) -> Column:
    """The type of distinct values, with its reason."""
    dtype = values.dtype
    kind, reason = ColumnType.CATEGORICAL, "all values are missing"
    if fact.distinct == 0:
        pass
    elif dtype == pl.Boolean:
        kind, reason = ColumnType.BOOLEAN, "true and false"
    elif dtype == pl.String:
        kind, reason = _text_type(values.str.strip_chars(), fact)
    elif isinstance(dtype, pl.Date | pl.Datetime):
        kind, reason = ColumnType.DATE, "dates"
    elif (dtype.is_float() or dtype.is_decimal()) and not _whole(values):
        kind, reason = ColumnType.REAL, "numbers with decimals"
    elif dtype.is_numeric():
        kind, reason = _whole_type(present(values))
    else:
        reason = "values of a kind without numbers"
    return Column(fact.name, type=kind, reason=reason)


def _whole(values: pl.Series) -> bool:
    """Whether numbers have no fractions, and are small enough to be exact; what is no number does not count."""
    if values.dtype.is_decimal():
        return bool((values == values.round(0)).all())
    known = present(values)
    return bool(((known % 1 == 0) & (known.abs() <= EXACT)).all())


def _text_type(values: pl.Series, fact: ColumnFacts) -> tuple[ColumnType, str]:
    values = values.filter(values != "")
    look = values.head(_LOOK)
    if len(values) <= 2 and set(values.str.to_lowercase().to_list()) <= set(TRUTH) and len(values) > 1:
        return ColumnType.BOOLEAN, "two values that mean yes and no"
    for guess in (_number_type, _date_type):
        guessed = guess(look)
        if guessed is not None and len(values) > _LOOK:
            guessed = guess(values)
        if guessed is not None:
            return guessed
    if fact.is_mostly_unique:
        return ColumnType.TEXT, f"{fact.distinct} distinct texts in {fact.present} rows"
    numbers = values.cast(pl.Float64, strict=False).count()
    if 2 * numbers > len(values):
        reason = f"mostly numbers, beside {counted(len(values) - numbers, 'distinct text')} (a word for missing?)"
        return ColumnType.CATEGORICAL, reason
    return ColumnType.CATEGORICAL, counted(fact.distinct, "distinct value")


def _number_type(values: pl.Series) -> tuple[ColumnType, str] | None:
    digits = values.str.contains(_DIGITS)
    if digits.all():
        if values.str.contains(_LEADING_ZERO).any():
            return ColumnType.CATEGORICAL, "digits with leading zeros: a code, not a number"
        return _whole_type(values)
    if values.cast(pl.Float64, strict=False).null_count() == 0:
        if values.str.contains(_WHOLE).all() and (values.cast(pl.Float64).abs() <= EXACT).all():
            return ColumnType.INTEGER, "whole numbers, some with a decimal point"
        return ColumnType.REAL, "numbers with decimals"
    if values.str.contains(_COMMA).all():
        if values.str.contains(_THOUSANDS).all():
            return ColumnType.CATEGORICAL, "numbers with commas that may part decimals or thousands"
        return ColumnType.REAL, "numbers with a decimal comma"
    return None


def _whole_type(numbers: pl.Series) -> tuple[ColumnType, str]:
    """Means and limits are computed in floats: what these cannot tell apart is a name rather than a number."""
    limit = int(EXACT)
    if numbers.cast(pl.Int64, strict=False).is_between(-limit, limit).fill_null(False).all():
        return ColumnType.INTEGER, "whole numbers"
    return ColumnType.TEXT, "whole numbers too large to count with"


def _date_type(values: pl.Series) -> tuple[ColumnType, str] | None:
    dates = parse_dates(values)
    if dates.ambiguous or (dates.mixed_zones and not dates.values.null_count()):
        return (ColumnType.CATEGORICAL, "look like dates that can be read in more than one way; write YYYY-MM-DD")
    return (ColumnType.DATE, "dates") if dates.values.null_count() == 0 else None


def _target_name(facts: list[ColumnFacts]) -> str | None:
    """A column with a usual name; else the last, if it has few values and no other known use."""
    named = [fact.name for fact in facts if is_target_name(fact.name)]
    if named:
        return named[-1]
    last = facts[-1]
    few = 2 <= last.distinct <= _CLASSES and 2 * last.distinct <= last.present
    return last.name if few and len(facts) > 1 and role_by_name(last.name) is None else None


def _with_role(column: Column, fact: ColumnFacts, chosen: str | None, named: str | None) -> Column:
    role, why = _role(column, fact, chosen, named)
    return Column(column.name, role, column.type, column.order, f"{column.reason}; {why}")


def _role(column: Column, fact: ColumnFacts, chosen: str | None, named: str | None) -> tuple[Role, str]:
    if fact.name == chosen:
        if named is not None:
            return Role.TARGET, STATED
        return Role.TARGET, "the name suggests target?" if is_target_name(fact.name) else "last, few values: target?"
    hinted = role_by_name(fact.name)
    if hinted is Role.IDENTIFIER and fact.repeats:
        return Role.QUASI_IDENTIFIER, "the name suggests identifier, but many rows share a value: quasi-identifier?"
    if hinted is Role.IDENTIFIER and fact.distinct < fact.present:
        again = counted(fact.present - fact.distinct, "row")
        return hinted, f"the name suggests identifier, but {again} repeat a value: are rows not persons?"
    if hinted is not None:
        return hinted, f"the name suggests {hinted}?"
    if fact.is_unique and column.type not in (ColumnType.REAL, ColumnType.DATE):
        return Role.IDENTIFIER, "unique per row: identifier?"
    return Role.QUASI_IDENTIFIER, "nothing says that others cannot know it: quasi-identifier?"


# Words that begin the names of columns that number the persons of a table, without accents.
_PERSONS = (
    *("patient", "person", "client", "customer", "member", "student", "pupil", "participant", "subject", "user"),
    *("citizen", "employee", "household", "firm", "company", "kunde", "mitglied", "schuler", "teilnehmer", "haushalt"),
    *("paciente", "cliente", "alumno", "hogar", "empresa", "eleve", "menage", "entreprise", "mrn", "nhs", "ssn"),
    *("pid", "uid", "cid", "sid", "patid", "subjid", "usubjid", "custid", "hhid"),
)


def with_person(schema: Schema, source: Source) -> Schema:
    """The draft with a proposal whose rows they are, where a column named like an identifier repeats.

    Of several the one that is named after persons, then the one with the most values: names are shared. The others are
    proposed as identifiers, for a person's rows share them, too.

    Examples
    --------
    >>> from incrowd.tables.reading.read import read
    >>> visits = read(pl.DataFrame({"patient_id": [1, 1, 2, 2, 2], "age": [30, 31, 50, 50, 51]}))
    >>> with_person(draft_schema(visits), visits)["patient_id"].reason
    'whole numbers; the name suggests identifier, and 2 values have 2.5 rows each on average: whose row it is?'
    """
    shared = {}
    for column in schema.columns:
        if column.role is not Role.TARGET and role_by_name(column.name) is Role.IDENTIFIER:
            values = present(source.frame[column.name])
            rows = Shared(len(values), values.n_unique())
            if rows.values < rows.rows and rows.numbers_persons:
                shared[column.name] = rows
    if not shared:
        return schema
    person = max(shared, key=lambda name: (_is_of_persons(name), shared[name].values))
    return Schema(tuple(_proposed(column, shared.get(column.name), column.name == person) for column in schema.columns))


def _is_of_persons(name: str) -> bool:
    return any(word.startswith(_PERSONS) for word in _split(name))


def _proposed(column: Column, shared: Shared | None, person: bool) -> Column:
    if shared is None:
        return column
    kind, why = column.reason.partition("; ")[0], "the name suggests identifier, and rows of one person share it?"
    if person:
        each = f"{counted(shared.values, 'value')} have {shared.rows / shared.values:.1f} rows each on average"
        why = f"the name suggests identifier, and {each}: whose row it is?"
    return replace(column, role=Role.PERSON if person else Role.IDENTIFIER, reason=f"{kind}; {why}")


_ROWS_OF_A_PERSON = 50  # a number that more rows share on average is a category


@dataclass(frozen=True)
class Shared:
    """Rows of a column that show a value, and the different values they show."""

    rows: int
    values: int

    @property
    def numbers_persons(self) -> bool:
        """Whether there are too many values for a category, of which many rows share each."""
        return self.rows < _ROWS_OF_A_PERSON * self.values
