"""Encodes texts and JSON as a store keeps them: bytes, compressed where that pays, under their content hash."""

from __future__ import annotations

import json
import zlib
from hashlib import blake2b
from typing import Any

from ctxfold.errors import CorruptStore

_PLAIN, _ZLIB = b"=", b"z"
_WORTH_PACKING = 200
"""Bytes below which compression saves nothing: zlib's own head and the lack of repetition take it back."""


def encode(text: str) -> bytes:
    """The bytes of a text. Lone surrogates, which JSON can carry, survive."""
    return text.encode("utf-8", "surrogatepass")


def decode(raw: bytes) -> str:
    """The text of bytes made by `encode`."""
    return raw.decode("utf-8", "surrogatepass")


def digest(raw: bytes) -> bytes:
    """The content hash of raw bytes: 16 bytes of BLAKE2b."""
    return blake2b(raw, digest_size=16).digest()


def pack(raw: bytes) -> bytes:
    """Bytes as the store keeps them: one byte that names the packing, then the packed bytes."""
    if len(raw) >= _WORTH_PACKING and len(small := zlib.compress(raw, 3)) < len(raw):
        return _ZLIB + small
    return _PLAIN + raw


def unpack(body: bytes) -> bytes:
    """The bytes that were packed. Raises CorruptStore: they do not read back."""
    try:
        return body[1:] if body[:1] == _PLAIN else zlib.decompress(body[1:])
    except (zlib.error, TypeError) as error:
        raise CorruptStore("a row does not read back; restore a copy of the store") from error


def pack_json(tree: object) -> bytes:
    """JSON as the store keeps it."""
    return pack(encode(json.dumps(tree, ensure_ascii=False, separators=(",", ":"))))


def unpack_json(body: bytes) -> Any:
    """JSON from bytes made by `pack_json`. Raises CorruptStore: they do not read back."""
    try:
        return json.loads(decode(unpack(body)))
    except ValueError as error:
        raise CorruptStore("a row does not read back; restore a copy of the store") from error
