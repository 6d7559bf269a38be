"""Spells a value in the encodings that pages, programs and logs give it back in, and takes escapes out of a text."""

from __future__ import annotations

import quopri
import re
from base64 import a85encode, b32encode, b64encode, b85encode
from codecs import encode as codec
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape as from_markup
from unicodedata import normalize

__all__ = ["SEPARATORS", "Spellings", "bare", "encodable", "lowered", "spell", "unescape"]

_ESCAPES = re.compile(
    r"""[%\\&](?:
    (?P<percent>(?<=%)[0-9a-f]{2}(?:%[0-9a-f]{2})*)
    |(?P<units>(?<=[%\\])u[0-9a-f]{4}(?:[%\\]u[0-9a-f]{4})*)
    |(?P<point>(?<=\\)u\{0*[0-9a-f]{1,6}\})
    |(?P<bytes>(?<=\\)x[0-9a-f]{2}(?:\\x[0-9a-f]{2})*)
    |(?P<octal>(?<=\\)[0-3][0-7]{2}(?:\\[0-3][0-7]{2})*)
    |(?P<sign>(?<=\\)["'\\/bfnrt])
    |(?P<markup>(?<=&)(?:\#[0-9]{1,40};?|\#x[0-9a-f]{1,40};?|[a-z][a-z0-9]{1,31};?)))""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LAST = 0x10FFFF
_UTF16 = ("utf-16-le", "utf-16-be")
_LEAST_CODE = 6
"""Characters of a code below which it would stand in ordinary text by chance."""
_LEAST_LETTERS = 4
SEPARATORS = re.compile(r"0x(?=[0-9a-f]{2})|[\W_]+", re.IGNORECASE)
"""What `bare` leaves out."""


@dataclass(frozen=True, slots=True)
class Spellings:
    """How a value may be spelled: `plain`, as it stands in a text once its escapes are taken out; `codes`, in one without blanks and punctuation."""

    plain: tuple[str, ...]
    codes: tuple[str, ...]


def spell(value: str) -> Spellings:
    """The spellings of a value in lower case, its own first.

    Plain: itself, with its accents apart or joined (Unicode NFD, NFC), backwards, rot13, quoted-printable, base85 and ascii85. As codes: base64 of
    UTF-8, UTF-16 and Latin-1 wherever in a longer text it stands, base32 likewise, hexadecimal, and the numbers of its bytes in base 10, 8 and 2.
    """
    plain = [value, normalize("NFC", value), normalize("NFD", value)]
    raw = value.encode("utf-8", "surrogatepass")
    plain += [value[::-1], quopri.encodestring(raw).decode().replace("=\n", "")]
    if sum(sign.isascii() and sign.isalpha() for sign in value) >= _LEAST_LETTERS:
        plain.append(codec(value, "rot13"))
    if len(raw) >= _LEAST_CODE:
        plain += [a85encode(raw).decode(), b85encode(raw).decode()]
    codes = [bare(code) for spelling in dict.fromkeys(plain[:3]) for code in _codes(spelling)]
    return Spellings(_kept(plain, 1), _kept(codes, _LEAST_CODE))


def bare(text: str) -> str:
    """A text without blanks and punctuation, and without the `0x` before hexadecimal numbers."""
    return SEPARATORS.sub("", text)


def lowered(text: str) -> str:
    """A text in lower case, as long as it was."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)


def unescape(text: str) -> Iterator[tuple[int, int, str]]:
    """Each place of a text that is escaped, for an address, in markup or in a script, as (start, end, what is meant). Once: what comes may be escaped again."""
    for found in _ESCAPES.finditer(text):
        said = found[0]
        meant = said
        match found.lastgroup:
            case "percent":
                meant = _from_bytes(bytes.fromhex(said.replace("%", "")))
            case "units":
                meant = bytes.fromhex(re.sub(r"[%\\]u", "", said, flags=re.IGNORECASE)).decode("utf-16-be", "replace")
            case "point":
                code = int(said[3:-1], 16)
                meant = chr(code) if code <= _LAST else said
            case "bytes":
                meant = _from_bytes(bytes.fromhex(re.sub(r"\\x", "", said, flags=re.IGNORECASE)))
            case "octal":
                meant = _from_bytes(bytes(int(part, 8) for part in said.split("\\")[1:]))
            case "sign":
                meant = _SIGNS.get(said[1].lower(), said[1])
            case _:
                meant = from_markup(said)
        if meant != said:
            yield found.start(), found.end(), meant


def _codes(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "surrogatepass")
    texts = [raw, *(value.encode(name, "surrogatepass") for name in _UTF16)]
    if not value.isascii():
        texts.append(value.encode("latin-1", "ignore"))
    for text in texts:
        for offset in range(3):
            yield _within(b64encode(b"\0" * offset + text).decode(), 6, offset, len(text))
    for offset in range(5):
        yield _within(b32encode(b"\0" * offset + raw).decode(), 5, offset, len(raw))
    yield from (text.hex() for text in texts[:3])
    for form in ("d", "03o", "o", "08b"):
        yield "".join(format(byte, form) for byte in raw)
    if not value.isascii():
        yield "".join(str(ord(sign)) for sign in value)


def _within(code: str, bits: int, offset: int, size: int) -> str:
    """Of the code of `offset` bytes and `size` more, the characters that depend on the latter alone."""
    return code[(offset * 8 + bits - 1) // bits : (offset + size) * 8 // bits]


def _from_bytes(raw: bytes) -> str:
    """UTF-8; a byte that is none, as Latin-1 has it."""
    text = raw.decode("utf-8", "surrogateescape")
    return "".join(chr(ord(sign) - 0xDC00) if "\udc80" <= sign <= "\udcff" else sign for sign in text)


def _kept(found: list[str], least: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lowered(each) for each in found if len(each) >= least))


def encodable(text: str) -> str:
    """The text with each half of a surrogate pair that stands alone replaced: no server takes those, and pages hold them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
