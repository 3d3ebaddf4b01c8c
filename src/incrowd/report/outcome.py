"""What a release gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Any

from incrowd.plan.release_plan import ReleasePlan
from incrowd.report.facts import Facts
from incrowd.report.terminal import summary
from incrowd.verification.verdict import Verdict


@dataclass(frozen=True, eq=False)
class Release:
    """A verified release.

    Attributes
    ----------
    plan
        What was decided. It belongs to the owner of the table; do not publish it.
    certificate
        What was asked and recounted, as plain data; may be published with the release.
    report
        The facts behind the summary and the HTML report.
    path
        Where the release was written, if it was written to a file.
    events
        The release of the second table, with the same pseudonyms, of a release of persons and their events; else None.
    """

    plan: ReleasePlan
    certificate: dict[str, Any]
    report: Facts
    path: Path | None
    _load: Callable[[], Any]
    _load_groups: Callable[[], Any] = NoneType
    events: Release | None = None

    @cached_property
    def table(self) -> Any:
        """The released rows, in the kind of frame that came in (polars for files)."""
        return self._load()

    @cached_property
    def groups(self) -> Any:
        """The table of groups, of a release of two tables (``form="pair"``); else None."""
        return self._load_groups()

    def decode(self, **options: Any) -> Any:
        """A plain table, see :func:`incrowd.recipients.decode`; it does not carry the guarantee of the release."""
        from incrowd.recipients.received import decode

        return decode(self, **options)

    @property
    def verdict(self) -> Verdict:
        """The outcome of the independent recount."""
        return self.report.verdict

    def save_report(self, path: str | Path) -> None:
        """Write the report as one HTML file."""
        from incrowd.report.html import report_html

        Path(path).write_text(report_html(self.report, certificate=self.certificate), encoding="utf-8")

    def __repr__(self) -> str:
        return summary(self.report)

    def _repr_html_(self) -> str:
        from incrowd.report.html import report_html

        return report_html(self.report, whole_page=False)
