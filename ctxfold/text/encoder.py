"""A sentence encoder from a folder: BERT weights, a tokenizer, mean pooling. It runs on the processor, offline, and decides nothing.

The folder is one a sentence-transformers model is published as: `config.json`, `tokenizer.json` and `model.safetensors`. Its three libraries come
with the extra `embed` and are imported when the first encoder is made. The forward pass is the plain one of Devlin et al., 2018; pooling and scaling are
those of Reimers and Gurevych, 2019; word against word, texts are compared as by Khattab and Zaharia, 2020 (late interaction). Texts go through it together, the words of all in one matrix, since only attention knows where a text ends: none is
padded, and a text's vector does not depend on those beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from math import sqrt
from pathlib import Path
from typing import Any

from ctxfold.errors import BrokenInstall, InputError

__all__ = ["FolderEncoder", "Likeness", "encoder_of"]

_TOKENS = 256
"""Tokens of a text that are read."""

_TOGETHER = 512
"""Tokens that go through the encoder at once, of as many whole texts: more gain no time and take more memory."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near a text comes to what is asked.

    Attributes:
        whole: the cosine of their vectors, -1 to 1.
        words: the mean, over the tokens asked, of the best cosine with any token of the text, each seen in its context, -1 to 1: high where the
            text speaks of every part of what is asked. 0 where nothing is asked.
    """

    whole: float
    words: float


class FolderEncoder:
    """The encoder of a folder. Each text's vector is computed once and kept; what is only compared is not.

    Args:
        folder: where `config.json`, `tokenizer.json` and `model.safetensors` lie.

    Raises:
        InputError: they do not, or are of another architecture.
        BrokenInstall: the extra `embed` is not installed.
    """

    def __init__(self, folder: str) -> None:
        try:
            import numpy
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError as error:
            raise BrokenInstall(f"an encoder needs {error.name}; install ctxfold[embed]") from error
        place = Path(folder).expanduser()
        try:
            self._config: dict[str, Any] = json.loads((place / "config.json").read_text("utf-8"))
            weights = load_file(str(place / "model.safetensors"))
            self._tokenizer = Tokenizer.from_file(str(place / "tokenizer.json"))
        except Exception as error:
            raise InputError(
                f"{place.name} is no folder of an encoder ({type(error).__name__}); it needs config.json, tokenizer.json and model.safetensors"
            ) from error
        self._np = numpy
        self._weights = {name.removeprefix("bert."): value.astype(numpy.float32) for name, value in weights.items()}
        if "embeddings.word_embeddings.weight" not in self._weights:
            raise InputError(f"{place.name} holds no BERT encoder; give the folder of one, such as a MiniLM")
        self._tokenizer.enable_truncation(_TOKENS)
        self._tokenizer.no_padding()
        self._known: dict[str, tuple[float, ...]] = {}
        self.name = place.name

    def encode(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """A vector of length one for each text.

        Args:
            texts: any texts; of each the first few hundred words are read.
        """
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        read = [encoding.ids for encoding in self._tokenizer.encode_batch(new)]
        for text, tokens in zip(new, self._tokens(read), strict=True):
            self._known[text] = tuple(self._scaled(tokens.mean(axis=0)).tolist())
        return [self._known[text] for text in texts]

    def compare(self, asked: str, texts: Sequence[str]) -> list[Likeness]:
        """How near each text comes to what is asked, as a whole and word by word, in one pass over all of them.

        Args:
            asked: what they are compared with.
            texts: any texts; of each the first few hundred words are read. None of it is kept.
        """
        first, *others = self._tokenizer.encode_batch([asked, *texts])
        told = [at for at, mark in enumerate(first.special_tokens_mask) if not mark]
        tokens = self._tokens([first.ids, *(other.ids for other in others)])
        question = next(tokens)
        whole, parts = self._scaled(question.mean(axis=0)), self._scaled(question[told])
        return [
            Likeness(
                float(whole @ self._scaled(one.mean(axis=0))),
                float((parts @ self._scaled(one).T).max(axis=1).mean()) if told else 0.0,
            )
            for one in tokens
        ]

    def _tokens(self, read: Sequence[Sequence[int]]) -> Iterator[Any]:
        """A vector for each token of each text, seen in its context; texts are given by the numbers of their tokens."""
        for first, last in _batches([len(ids) for ids in read]):
            few = read[first:last]
            bounds = list(pairwise(accumulate(map(len, few), initial=0)))
            hidden = self._embedded(few)
            for layer in range(int(self._config["num_hidden_layers"])):
                hidden = self._layer(hidden, bounds, f"encoder.layer.{layer}.")
            for begin, end in bounds:
                yield hidden[begin:end]

    def _scaled(self, vectors: Any) -> Any:
        """The same, each of length one; one that is nothing stays so."""
        lengths = self._np.linalg.norm(vectors, axis=-1, keepdims=True)
        return vectors / self._np.where(lengths == 0, 1, lengths)

    def _embedded(self, read: Sequence[Sequence[int]]) -> Any:
        w = self._weights
        words = w["embeddings.word_embeddings.weight"][[token for ids in read for token in ids]]
        places = w["embeddings.position_embeddings.weight"][[place for ids in read for place in range(len(ids))]]
        return self._normed(words + places + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")

    def _layer(self, hidden: Any, bounds: Sequence[tuple[int, int]], at: str) -> Any:
        queries, keys, values = (
            self._linear(hidden, f"{at}attention.self.{name}") for name in ("query", "key", "value")
        )
        mixed = self._np.concatenate(
            [self._attended(queries[begin:end], keys[begin:end], values[begin:end]) for begin, end in bounds]
        )
        hidden = self._normed(
            hidden + self._linear(mixed, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm"
        )
        inner = _gelu(self._np, self._linear(hidden, f"{at}intermediate.dense"))
        return self._normed(hidden + self._linear(inner, f"{at}output.dense"), f"{at}output.LayerNorm")

    def _attended(self, queries: Any, keys: Any, values: Any) -> Any:
        """What each token of one text takes over from the others."""
        np, heads = self._np, int(self._config["num_attention_heads"])
        length, width = queries.shape
        query, key, value = (
            one.reshape(length, heads, width // heads).transpose(1, 0, 2) for one in (queries, keys, values)
        )
        scores = query @ key.transpose(0, 2, 1) / sqrt(width / heads)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value).transpose(1, 0, 2).reshape(length, width)

    def _linear(self, value: Any, name: str) -> Any:
        return value @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normed(self, value: Any, name: str) -> Any:
        mean = value.mean(axis=-1, keepdims=True)
        spread = ((value - mean) ** 2).mean(axis=-1, keepdims=True)
        scaled = (value - mean) / self._np.sqrt(spread + float(self._config.get("layer_norm_eps", 1e-12)))
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _batches(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where each batch of neighbouring texts begins and ends: as many as hold `_TOGETHER` tokens, one at least."""
    begin, held = 0, 0
    for at, length in enumerate(lengths):
        if at > begin and held + length > _TOGETHER:
            yield begin, at
            begin, held = at, 0
        held += length
    if lengths:
        yield begin, len(lengths)


def _gelu(np: Any, value: Any) -> Any:
    """The Gaussian error linear unit, by the error function's rational form of Abramowitz and Stegun, 7.1.26 (error below 2e-7).

    Its numbers are Python's own: one of numpy's would make the whole pass count in twice the digits, at twice the time.
    """
    x = np.abs(value) * sqrt(0.5)
    t = 1.0 / (1.0 + 0.3275911 * x)
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail *= np.exp(-x * x)
    return 0.5 * value * (1.0 + np.sign(value) * (1.0 - tail))


def encoder_of(folder: str | None) -> FolderEncoder | None:
    """The encoder of a folder, made once; None for none.

    Raises:
        InputError: the folder holds none.
        BrokenInstall: the extra `embed` is not installed.
    """
    return None if folder is None else _made(folder)


@cache
def _made(folder: str) -> FolderEncoder:
    return FolderEncoder(folder)
