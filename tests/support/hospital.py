"""A file as a hospital's program exports it: titles above, a name twice, and all that people write into cells."""

from __future__ import annotations

import random
from collections.abc import Iterator

TITLES = [
    "Universitätsklinikum Musterstadt – Export Patientenverwaltung" + ";" * 11,
    "Stand: 03.02.2022" + ";" * 11,
    "",
]
HEADER = "Fallnummer;Nachname;Alter;Geschlecht;PLZ;Größe (cm);Kosten;Aufnahme;Entlassung;Diagnose;Diagnose;Bemerkung"
_NAMES = ("Müller", "Schäfer", "Groß", "Weiß", "Jäger", "Köhler")
_REMARKS = ("Übelkeit", "38,5 °C – beobachten", "Leukozyten 10³/µl", "„müde“ lt. Ehefrau", "", "", "", "k.A.")


def patients(rows: int = 700) -> Iterator[str]:
    """Cases, some of the same patient; commas in numbers, days in two styles, words for what is not known."""
    draw = random.Random(3)
    for number in range(rows):
        day, month = draw.randint(1, 28), draw.randint(1, 12)
        remark = draw.choice(_REMARKS)
        yield ";".join(
            [
                f"F-{2021000 + number // draw.choice((1, 1, 1, 2))}",
                draw.choice(_NAMES),
                draw.choice(["k.A.", "unbekannt", *[str(draw.randint(18, 90))] * 20]),
                draw.choice("wmwm-"),
                f"{draw.randint(1, 12):02d}{draw.choice((101, 115, 127))}",
                f"{draw.randint(150, 199)},{draw.randint(0, 9)}",
                f"{draw.randint(1, 9)}.{draw.randint(100, 999)},{draw.randint(10, 99)}",
                f"{day:02d}.{month:02d}.2021" if draw.random() < 0.8 else f"2021-{month:02d}-{day:02d}",
                f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.2021",
                draw.choice(("Grippe", "Asthma", "Übelkeit", "Fraktur")),
                draw.choice(("J10", "J45", "R11", "S52")),
                f"{remark} ({number})" if remark and draw.random() < 0.8 else remark,
            ]
        )


def export(*, titles: bool, twice: bool) -> bytes:
    """The file as it came, or after what is wrong with it has been mended."""
    header = HEADER if twice else HEADER.replace("Diagnose;Diagnose", "Diagnose;ICD")
    lines = [*(TITLES if titles else []), header, *patients(), ""]
    return "\r\n".join(lines).encode("cp1252")
