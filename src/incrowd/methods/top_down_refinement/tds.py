"""TDS: top-down specialization, the forerunner of TDR.

Fung, Wang, Yu, "Top-Down Specialization for Information and Privacy Preservation" (ICDE 2005). There is no suppression
of single values: an attribute without taxonomy and order shows nothing, or all of its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from incrowd.methods.top_down_refinement.refinement import Score, gain_alone, tds_score
from incrowd.methods.top_down_refinement.tdr import TDR


@dataclass(frozen=True)
class TDS(TDR):
    """Top-down specialization: TDR without disclosing values one by one, and with another score.

    The parameters are those of :class:`TDR`.

    Examples
    --------
    >>> TDS().name
    'tds'
    """

    name: ClassVar[str] = "tds"
    one_by_one: ClassVar[bool] = False
    criteria: ClassVar[Mapping[str, Score]] = {"score": tds_score, "gain": gain_alone}
