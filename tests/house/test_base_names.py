"""pytest imports test files by their base names: two of the same name break the run that collects both."""

from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parents[1]


def repeated(paths):
    """The base names that several test files have, with where these are."""
    places = defaultdict(list)
    for path in paths:
        places[path.name].append(str(path.parent))
    return {name: sorted(folders) for name, folders in places.items() if len(folders) > 1}


def test_every_test_file_has_a_base_name_of_its_own():
    assert repeated(path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")) == {}


def test_a_repeated_base_name_is_told_with_its_places():
    files = [Path("unit/risk/test_persons.py"), Path("golden/test_persons.py"), Path("house/test_docs.py")]
    assert repeated(files) == {"test_persons.py": ["golden", "unit/risk"]}
