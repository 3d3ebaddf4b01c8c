"""What may be asked of a release."""

import pytest

from incrowd.errors import ParameterError
from incrowd.releases.job import Job
from incrowd.tables.recipe import Recipe


@pytest.mark.parametrize("people", [-1, True])
def test_a_number_of_people_is_whole_and_not_negative(people):
    with pytest.raises(ParameterError, match="whole number of people"):
        Job(None, Recipe(), alone_at_most=people).check()
    Job(None, Recipe(), alone_at_most=0).check()
