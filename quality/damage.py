"""Ways in which a valid file becomes a damaged or a hostile one."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Way = Callable[[bytes, Sequence[bytes], Random], bytes]
"""From a valid file and others of its kind to a damaged one."""

_NUMBERS = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    1 << 40,
    1 << 62,
    (1 << 63) - 1,
)
_DEEP = 3_000
_WORDS: tuple[bytes, ...] = (
    *(bytes([sign]) for sign in b"\0\t\n\r \"'#%&*,-.:;<=>?@[\\]`{|}~\x7f\x80\xc3\xff"),
    *(b"\r\n", b'""', b"''", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\x00" * 40),
    *(b"null", b"true", b"~", b"no", b"nan", b"inf", b"-inf", b"1e999", b"-0.0", b"0x1f", b"1_0", b"2020-99-99"),
    *(b"12:30:99", b"!!python/object:os.system x", b"!!binary x", b"!!set {a}", b"&a", b"*a", b"<<: *a", b"<<: x"),
    *(b"? ", b"- - ", b"| ", b"> ", b"---\n", b"...\n", b"%YAML 9.9\n", b"{{", b"}}", b"__proto__", b"\\u0000"),
    *(
        b"\\ud800",
        b"\\",
        b"@data\n",
        b"@attribute x real\n",
        b"@attribute ",
        b"-1",
        b"1e400",
        b"(-inf, inf)",
        b"(5, 1]",
    ),
    *(b"9" * 30, b"9" * 400, b"9" * 5_000, b"1" + b"0" * 100_000, b"0." + b"3" * 400, b"a" * 70_000),
    *(b"[" * _DEEP, b"{a: " * _DEEP, b'{"a":' * _DEEP, b"(" * _DEEP, b"- " * _DEEP, b"&a [*a, *a]"),
)
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")


def flip_bits(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
    """One to eight bits are other ones."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def overwrite(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
    """A run of bytes is nothing, all ones, or noise."""
    start, size = chance.randrange(len(data)), chance.choice((1, 2, 4, 8, 16, 64, 300))
    run = chance.choice((b"\0" * size, b"\xff" * size, chance.randbytes(size)))
    return data[:start] + run[: len(data) - start] + data[start + size :]


def cut(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
    """The end is gone."""
    return data[: chance.randint(1, len(data))]


def remove(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
    """A stretch in the middle is gone."""
    start, end = _stretch(data, chance)
    return data[:start] + data[end:] or data


def repeat(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
    """A stretch is there twice, or often."""
    start, end = _stretch(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 1, 2, 50)) + data[end:]


def splice(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    """A stretch of another file stands somewhere in this one."""
    other = chance.choice(others)
    start, end = _stretch(other, chance)
    place = chance.randrange(len(data))
    return data[:place] + other[start:end] + data[place + chance.choice((0, end - start)) :]


def misstate(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
    """A number of two, four or eight bytes, perhaps a length, says something else."""
    width, order = chance.choice((2, 4, 4, 8)), chance.choice(("little", "little", "big"))
    place = chance.randrange(len(data)) & ~(chance.choice((1, 4, 8)) - 1)
    value = chance.choice((*_NUMBERS, len(data), len(data) + 1, chance.getrandbits(8 * width)))
    number = (value & ((1 << 8 * width) - 1)).to_bytes(width, order)  # type: ignore[arg-type]
    return data[:place] + number + data[place + width :]


def insert_word(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
    """Words that mean something to readers of text stand where they should not, or in place of another."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        tokens = list(_TOKEN.finditer(data))
        if not tokens:
            return data
        token, word = chance.choice(tokens), chance.choice(_WORDS)
        end = token.end() if chance.random() < 0.5 else token.start()
        data = data[: token.start()] + word + data[end:]
    return data


def shuffle_lines(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    """A line is gone, doubled, moved, joined with the next, or from another file."""
    lines = data.splitlines(keepends=True)
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, lines[other])
        case 2:
            lines[place], lines[other] = lines[other], lines[place]
        case 3:
            lines[place] = lines[place].rstrip(b"\r\n")
        case _:
            lines[place] = chance.choice(chance.choice(others).splitlines(keepends=True) or [b""])
    return b"".join(lines) or data


def change_json(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
    """Sound JSON in which some values are gone, of another type, or those of another place."""
    document = json.loads(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(document))
        holder, key = chance.choice(places)
        match chance.randrange(4):
            case 0:
                del holder[key]
            case 1:
                other, name = chance.choice(places)
                holder[key] = other[name]
            case _:
                holder[key] = json.loads(chance.choice(_VALUES))
        if not document:
            break
    try:
        return json.dumps(document).encode()
    except (ValueError, RecursionError):  # a value was put inside itself
        return data


_VALUES = (
    *(
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1",
        "2.5",
        "1e300",
        "NaN",
        "Infinity",
        "-Infinity",
        "9" * 400,
        "1" + "0" * 30,
    ),
    *('""', '"x"', '"\\u0000"', '"\\ud800"', '"inf"', "[]", "{}", "[[]]", "[{}]", '{"is": "eq"}', '["x", "x"]'),
    *('"' + "a" * 10_000 + '"', "[" * 200 + "]" * 200, "[null]", "[-1]", "[0, 0]", '[["a", 1]]', '{"a": {"a": 1}}'),
)


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every holder of a value with the key under which it has it."""
    places: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            places.append((holder, key))
            if isinstance(holder[key], dict | list) and len(places) < 5_000:
                waiting.append(holder[key])
    return places


def _stretch(data: bytes, chance: Random) -> tuple[int, int]:
    start = chance.randrange(len(data))
    longest = chance.choice((1, 4, 16, 64, 512, len(data)))
    return start, min(len(data), start + chance.randint(1, longest))


BYTES: tuple[Way, ...] = (flip_bits, overwrite, cut, remove, repeat, splice, misstate)
TEXT: tuple[Way, ...] = (insert_word, insert_word, insert_word, shuffle_lines, shuffle_lines, *BYTES)
JSON: tuple[Way, ...] = (change_json, change_json, change_json, change_json, insert_word, insert_word, *BYTES)


def in_gzip(way: Way) -> Way:
    """The way, taken by the text in a gzip file."""

    def changed(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
        text = gzip.decompress(data)
        return gzip.compress(way(text, [text], chance), 1, mtime=0)

    return changed


def in_zip(way: Way) -> Way:
    """The way, taken by one member of a zip archive; what vouches for the bytes is made anew."""

    def changed(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = chance.choice(list(members))
        members[name] = way(members[name] or b"\0", list(filter(None, members.values())), chance)
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
            for member, content in members.items():
                archive.writestr(zipfile.ZipInfo(member), content)
        return written.getvalue()

    return changed


def in_parquet(key: bytes) -> Way:
    """JSON under a key of a Parquet file's metadata is changed; the file itself is sound."""

    def changed(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pq.read_table(pa.BufferReader(data))
        document = change_json(table.schema.metadata[key], (), chance)
        written = io.BytesIO()
        pq.write_table(table.replace_schema_metadata({key: document}), written)
        return written.getvalue()

    return changed


def in_entry(key: bytes) -> Way:
    """Header or payload of a ledger's entry are changed, and vouched for anew: as if its owner had written them."""

    def changed(data: bytes, _others: Sequence[bytes], chance: Random) -> bytes:
        import hashlib

        from incrowd.releases.ledger.entry import mac_of

        header, _, payload = data.split(b"\n", 2)
        if chance.random() < 0.4 and payload:
            payload = chance.choice(BYTES)(payload, [payload], chance)
            document = json.loads(header)
        else:
            document = json.loads(change_json(header, (), chance))
        document["payload"] = hashlib.sha256(payload).hexdigest()
        plain = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
        return plain + b"\n" + mac_of(document, key).encode() + b"\n" + payload

    return changed
