"""The data files of cue phrases: each is read, each table is used, each list is named, and a pattern reads every language."""

import re
import tomllib
from pathlib import Path

import pytest

import ctxfold
from ctxfold.errors import BrokenInstall
from ctxfold.text.phrases import choices, listed, named, numbers, pattern

HOUSE = Path(ctxfold.__file__).parent
FILES = sorted((HOUSE / "phrases").glob("*.toml"))
CODE = "\n".join(path.read_text("utf-8") for room in ("discourse", "intent") for path in (HOUSE / room).glob("*.py"))

FAMILIES = tuple(re.findall(r'\bnamed\("(\w+)"\)', CODE))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_table_of_a_language_is_read_by_somebody(path: Path) -> None:
    language = tomllib.loads(path.read_text("utf-8"))
    for room in ("message", "clause", "slot"):
        for cue in language.get(room, {}):
            assert pattern(f"{room}.{cue}").pattern
            assert re.search(rf"""["'](?:{room}\.)?{cue}["']""", CODE), f"nobody reads {room}.{cue}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_phrase_names_only_lists_there_are(path: Path) -> None:
    text = path.read_text("utf-8")
    held = tomllib.loads(text)["words"]
    named = set(re.findall(r"\{([a-z]\w*)\}", text.partition("\n[words]\n")[2]))
    assert named <= set(held)
    for name in set(held) - named - {"leads", "lets", "softly"}:
        read = f'listed("{name}")' in CODE or f"choices('{name}')" in CODE or name.startswith(FAMILIES)
        assert read, f"nobody reads the list {name}"


def test_a_pattern_reads_every_language_and_a_phrase_stands_where_it_may() -> None:
    returns = pattern("message.returns")
    assert returns.search("ok, let's go back to the hotel")
    assert returns.search("回到酒店")
    assert not returns.search("my back hurts")
    assert pattern("clause.asks").search("please book it")


def test_lists_and_numbers_are_of_all_languages() -> None:
    assert {"topic", "话题"} <= listed("topical")
    assert numbers()["second"] == numbers()["二"] == 2
    assert re.fullmatch(choices("idle"), "谢谢")
    assert {"red", "红色"} <= listed("kind_colour")
    assert "kind_colour" in named("kind_")


def test_an_unknown_cue_is_a_broken_install() -> None:
    with pytest.raises(BrokenInstall, match=r"message\.nothing"):
        pattern("message.nothing")


def test_lists_of_no_name_are_a_broken_install() -> None:
    with pytest.raises(BrokenInstall, match="nothing_"):
        named("nothing_")


def test_what_reads_slots_holds_no_word_of_a_language() -> None:
    """They stand in the data files alone: who adds a language adds a file."""
    code = (HOUSE / "intent" / "restated.py").read_text("utf-8")
    assert code.isascii()
    assert not re.search(r"\b(?:jan|am|mon|at|ones\?)\|", code)
