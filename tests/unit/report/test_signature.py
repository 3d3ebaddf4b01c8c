"""Keys and signatures of certificates: what is signed, by whom, and that a changed byte shows."""

from __future__ import annotations

import base64
import copy
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from incrowd.errors import FileFormatError, IncrowdError, InputError, MissingPackageError, OutputError, ParameterError
from incrowd.report.signature import (
    PublicKey,
    is_signed_by,
    key_path,
    keys_folder,
    make_key,
    private_key,
    public_key,
    public_path,
    signed,
    signed_bytes,
)

CERTIFICATE = {
    "incrowd_certificate": 5,
    "made": "2026-01-02",
    "rows": {"input": 20, "shares": [0.1, 1e-9]},
    "who": "Büro",
}


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("key", ["office", "office.key", "sub/office.key", "sub/office"])
def test_a_key_is_for_its_owner_alone(tmp_path, key):
    (tmp_path / "sub").mkdir()
    before = os.umask(0)
    try:
        path, public = make_key(key)
    finally:
        os.umask(before)
    assert path == key_path(key)
    assert (path.parent == keys_folder()) is (key == "office")
    assert (mode(path), mode(public_path(path))) == (0o600, 0o644)
    if key == "office":
        assert mode(path.parent) == 0o700
    assert PublicKey.of(private_key(key)) == public == public_key(key) == public_key(public_path(path))
    assert public.text in public_path(path).read_text()
    assert len(public.id) == 32


def test_a_key_is_never_overwritten():
    path, _ = make_key("office")
    kept, public = path.read_bytes(), public_path(path)
    with pytest.raises(ParameterError, match="never overwritten"):
        make_key("office")
    assert path.read_bytes() == kept
    path.unlink()
    with pytest.raises(ParameterError, match="never overwritten"):
        make_key("office")
    assert not path.exists()  # no half of a pair
    assert public.exists()


def test_a_key_where_nothing_can_be_written():
    with pytest.raises(OutputError):
        make_key("nowhere/office.key")


def test_two_keys_are_different():
    assert make_key("a")[1] != make_key("b")[1]


def test_what_is_signed_is_what_the_certificate_says():
    _, public = make_key("office")
    whole = signed(CERTIFICATE, "office")
    assert {name: value for name, value in whole.items() if name != "signature"} == CERTIFICATE
    assert whole["signature"]["key_id"] == public.id
    assert base64.b64decode(whole["signature"]["public_key"]) == public.raw
    assert is_signed_by(whole, public)
    read_back = json.loads(json.dumps(whole, indent=2))
    assert is_signed_by(read_back, public)
    assert is_signed_by(dict(reversed(read_back.items())), public)
    assert "signature" not in CERTIFICATE


def test_the_signature_is_that_of_rfc_8032():
    """Checked by the library itself, over bytes written down here."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    _, public = make_key("office")
    value = base64.b64decode(signed({"b": 1, "a": "ü"}, "office")["signature"]["value"])
    Ed25519PublicKey.from_public_bytes(public.raw).verify(value, '{"a":"ü","b":1}'.encode())


def test_every_changed_byte_shows():
    _, public = make_key("office")
    whole = json.dumps(signed(CERTIFICATE, "office"), ensure_ascii=False)
    noticed = 0
    for place in range(len(whole)):
        changed = whole[:place] + chr(ord(whole[place]) ^ 1) + whole[place + 1 :]
        try:
            data = json.loads(changed)
        except ValueError:
            continue
        assert is_signed_by(data, public) is (data == json.loads(whole)), place
        noticed += data != json.loads(whole)
    assert noticed > 150


def test_another_key_did_not_sign():
    make_key("office")
    _, other = make_key("other")
    assert not is_signed_by(signed(CERTIFICATE, "office"), other)


def test_the_key_that_a_certificate_names_is_not_believed():
    _, public = make_key("office")
    make_key("forger")
    forged = signed({**CERTIFICATE, "who": "nobody"}, "forger")
    forged["signature"] |= {"key_id": public.id, "public_key": public.text}
    assert not is_signed_by(forged, public)


@pytest.mark.parametrize(
    "signature",
    [{}, {"value": ""}, {"value": "?"}, {"value": None}, {"value": "AAAA", "algorithm": "Ed25519"}, None, 7],
)
def test_what_is_no_signature(signature):
    _, public = make_key("office")
    assert not is_signed_by({**CERTIFICATE, "signature": signature}, public)


def test_another_algorithm_is_none():
    _, public = make_key("office")
    whole = copy.deepcopy(signed(CERTIFICATE, "office"))
    whole["signature"]["algorithm"] = "none"
    assert not is_signed_by(whole, public)


def test_a_number_that_is_none_is_not_signed():
    make_key("office")
    with pytest.raises(ValueError, match="JSON"):
        signed_bytes({"a": float("nan")})


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o666])
def test_a_private_key_that_others_can_read_is_refused(bits):
    path, _ = make_key("office")
    path.chmod(bits)
    with pytest.raises(InputError, match="chmod 600"):
        private_key("office")


@pytest.mark.parametrize(
    "data", [b"", b"x", b"\xff\xfe", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_what_is_no_key(data):
    for name in ("a.key", "a.pub"):
        Path(name).write_bytes(data)
        Path(name).chmod(0o600)
    with pytest.raises(FileFormatError):
        private_key("a.key")
    with pytest.raises(FileFormatError):
        public_key("a.pub")


def test_a_key_of_another_kind():
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    other = rsa.generate_private_key(65537, 2048)
    Path("a.key").write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    Path("a.key").chmod(0o600)
    with pytest.raises(FileFormatError):
        private_key("a.key")


def test_a_key_that_does_not_exist():
    for read in (private_key, public_key):
        with pytest.raises(IncrowdError) as refused:
            read("nobody")
        assert refused.value.exit_status == 2


def test_the_package_comes_through_the_one_door(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingPackageError, match=r"incrowd\[sign\]"):
        make_key("office")
