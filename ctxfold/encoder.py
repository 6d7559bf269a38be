"""A sentence encoder from a folder: BERT weights, a tokenizer, mean pooling. It runs on the processor, offline, and decides nothing.

The folder is one a sentence-transformers model is published as: `config.json`, `tokenizer.json` and `model.safetensors`. Its three libraries come
with the extra `embed` and are imported when the first encoder is made. The forward pass is the plain one of Devlin et al., 2018; pooling and scaling are
those of Reimers and Gurevych, 2019.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ctxfold.errors import BrokenInstall, InputError

__all__ = ["FolderEncoder", "encoder_of"]

_TOKENS = 256
"""Tokens of a text that are read."""


class FolderEncoder:
    """The encoder of a folder. Each text's vector is computed once and kept.

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
        for text in texts:
            if text not in self._known:
                self._known[text] = self._vector(text)
        return [self._known[text] for text in texts]

    def _vector(self, text: str) -> tuple[float, ...]:
        np = self._np
        ids = self._tokenizer.encode(text).ids
        hidden = self._embedded(ids)
        for layer in range(int(self._config["num_hidden_layers"])):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        mean = hidden.mean(axis=0)
        length = float(np.linalg.norm(mean))
        return tuple(float(value) for value in (mean / length if length else mean))

    def _embedded(self, ids: Sequence[int]) -> Any:
        w = self._weights
        places = w["embeddings.position_embeddings.weight"][: len(ids)]
        total = (
            w["embeddings.word_embeddings.weight"][list(ids)] + places + w["embeddings.token_type_embeddings.weight"][0]
        )
        return self._normed(total, "embeddings.LayerNorm")

    def _layer(self, hidden: Any, at: str) -> Any:
        np, heads = self._np, int(self._config["num_attention_heads"])
        length, width = hidden.shape

        def split(name: str) -> Any:
            return (
                self._linear(hidden, f"{at}attention.self.{name}")
                .reshape(length, heads, width // heads)
                .transpose(1, 0, 2)
            )

        scores = split("query") @ split("key").transpose(0, 2, 1) / np.sqrt(width / heads)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed = (weights @ split("value")).transpose(1, 0, 2).reshape(length, width)
        hidden = self._normed(
            hidden + self._linear(mixed, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm"
        )
        inner = _gelu(np, self._linear(hidden, f"{at}intermediate.dense"))
        return self._normed(hidden + self._linear(inner, f"{at}output.dense"), f"{at}output.LayerNorm")

    def _linear(self, value: Any, name: str) -> Any:
        return value @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normed(self, value: Any, name: str) -> Any:
        mean = value.mean(axis=-1, keepdims=True)
        spread = ((value - mean) ** 2).mean(axis=-1, keepdims=True)
        scaled = (value - mean) / self._np.sqrt(spread + float(self._config.get("layer_norm_eps", 1e-12)))
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(np: Any, value: Any) -> Any:
    """The Gaussian error linear unit, by the error function's rational form of Abramowitz and Stegun, 7.1.26 (error below 2e-7)."""
    x = np.abs(value) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * x)
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(value) * (1.0 - tail * np.exp(-x * x))
    return 0.5 * value * (1.0 + erf)


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
