"""What unchanged columns give back of whole tables: against the definition, and what is told beside the counts."""

import pytest

from support.unchanged_tables import agrees, invented


@pytest.mark.parametrize("seed", range(80))
def test_counts_agree_with_the_definition(seed):
    agrees(invented(seed, most_rows=280))
