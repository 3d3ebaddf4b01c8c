"""The file of the key: made once, for its owner alone, and never in what appears."""

from __future__ import annotations

import base64
import os

import pytest

from incrowd.errors import FileFormatError, InputError, OutputError, VerificationError
from incrowd.tables.reading.keyed import check_absent, key_name, make_key, read_key

DIGITS = "00112233445566778899aabbccddeeff0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def put(folder, text, mode=0o600):
    path = folder / "key.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)
    return path


def test_a_new_key_is_random_and_its_owners_alone(tmp_path):
    paths = [tmp_path / name for name in ("one", "other")]
    for path in paths:
        make_key(path)
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o600, 0o600]
    one, other = map(read_key, paths)
    assert len(one) == len(other) == 32
    assert one != other
    before = paths[0].read_bytes()
    with pytest.raises(OutputError, match="a key is never replaced"):
        make_key(paths[0])
    assert paths[0].read_bytes() == before
    with pytest.raises(OutputError, match="cannot be made: No such file"):
        make_key(tmp_path / "nowhere" / "key.txt")


@pytest.mark.parametrize("text", [DIGITS, f"{DIGITS}\n", f"\n{DIGITS.upper()}\r\n", f"{DIGITS[:32]} {DIGITS[32:]}"])
def test_space_around_the_digits_is_no_part_of_the_key(text, tmp_path):
    assert read_key(put(tmp_path, text)) == bytes.fromhex(DIGITS)


@pytest.mark.parametrize(
    "text",
    ["", "\n", DIGITS[:62], "00" * 32, "ab" * 40, "correct horse battery staple" * 4, b"\xff" * 64, f"{DIGITS}x"],
)
def test_what_is_no_key_is_refused_without_being_repeated(text, tmp_path):
    with pytest.raises(FileFormatError, match="holds no key") as refused:
        read_key(put(tmp_path, text))
    assert DIGITS[:16] not in str(refused.value)
    assert "staple" not in str(refused.value)


def test_a_key_that_is_not_there_or_not_ones_own_is_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_key(tmp_path / "key.txt")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_key(tmp_path)
    with pytest.raises(InputError, match=r"can be read by others\. Take that away: chmod 600 key\.txt"):
        read_key(put(tmp_path, DIGITS, 0o644))
    if os.geteuid():
        with pytest.raises(InputError, match="cannot be read: Permission denied"):
            read_key(put(tmp_path, DIGITS, 0o000))


@pytest.mark.parametrize(
    "spelled",
    [
        bytes.fromhex(DIGITS),
        DIGITS.encode(),
        DIGITS.upper().encode(),
        base64.b64encode(bytes.fromhex(DIGITS)),
        base64.urlsafe_b64encode(bytes.fromhex(DIGITS)),
        repr(bytes.fromhex(DIGITS)).encode(),
    ],
)
def test_a_key_is_seen_in_whatever_spelling(spelled):
    key = bytes.fromhex(DIGITS)
    check_absent(key, [b"nothing", key_name(key).encode()])
    with pytest.raises(VerificationError, match="holds the key"):
        check_absent(key, [b"nothing", b'{"by": "' + spelled + b'"}'])
