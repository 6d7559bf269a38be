"""The data model's addresses: step numbers, records, line ranges, stretches, path order."""

import json
from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import RefError
from tests.support.sessions import (
    add_call,
    add_result,
    add_step,
    add_steps,
    in_order,
    lines_of,
    one_line,
    records,
    ref_of,
    texts,
)


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "lone\rreturn",
        "",
        "\u2028 and \u2029 and \x85 and \x0c",
        "價格 👩‍🚀 e\u0301",
        '{"a": NaN, "a": 1}',
        "s1.1",
    ],
)
def test_recall_returns_the_exact_bytes_of_a_record(stored: Session, database: Path, text: str) -> None:
    """`recall` of a record gives its bytes, here and after a restart, and says that they are the record itself."""
    step = add_result(stored, text)
    found = stored.recall(ref_of(stored, step, text))
    assert found.text.encode() == text.encode()
    assert not found.derived
    with Session.open("trip", store=str(database)) as again:
        assert again.recall(found.ref).text.encode() == text.encode()


def test_every_kind_of_record_is_recalled_exactly(session: Session) -> None:
    user, thought, result = "I want\r\n\x00both", "Let me\tsee \u2028 now", "result\r\n"
    session.record_turn(user=user)
    step = add_call(session, "look_up", {"zeta": 1, "alpha": ["é", None]}, result, thought)
    got = texts(session, step)
    assert [got[0], got[1], got[-1]] == [user, thought, result]
    assert len(got) == 4
    assert "look_up" in session.recall(f"s{step}").text
    assert '"zeta"' in got[2]
    assert got[2].index("zeta") < got[2].index("alpha")


def test_a_block_that_is_not_there_is_told_with_the_newest_that_is(session: Session) -> None:
    session.record_turn(user="Kyoto, six days.")
    session.record_reply("Noted: six days in Kyoto, by train from Osaka, for 4200 euros. " * 20)
    with pytest.raises(RefError, match="no block b7; nothing is folded yet"):
        session.recall("b7")
    session.fold(summary="Six days.", first_step=1, last_step=1)
    with pytest.raises(RefError, match="no block b7; the newest of this session is b1"):
        session.recall("b7")


def test_recall_of_a_step_gives_all_its_records_under_one_line_headers(session: Session) -> None:
    """`recall("s12")`: each record's exact text, each under a line that names its ref."""
    session.record_turn(user="The wish\nin two lines")
    step = add_step(session, 1)
    found = session.recall(f"s{step}").text
    for record in records(session, step):
        assert record.text in found
        header = found[: found.index(record.text)].rstrip("\n").splitlines()[-1]
        assert record.ref in header, f"no header line with {record.ref} above its text"


def test_recall_of_a_stretch_names_the_branch_of_each_step_after_a_fork(session: Session) -> None:
    add_steps(session, 3)
    home = session.branch_name
    session.branch("create", at=2, to="detour")
    add_steps(session, 2, first=4)
    found = session.recall("s2-s5").text
    assert home in found
    assert "detour" in found
    assert in_order(found, ["END-2", "END-3", "END-4", "END-5"])


def test_a_line_range_means_those_lines_of_a_text_record(session: Session) -> None:
    text = "\n".join(f"line {n}" for n in range(1, 101))
    step = add_result(session, text)
    ref = ref_of(session, step, text)
    assert session.recall(f"{ref}:40-42").text.rstrip("\n") == "line 40\nline 41\nline 42"
    assert session.recall(f"{ref}:100").text.rstrip("\n") == "line 100"
    assert session.recall(f"{ref}:1-100").text.rstrip("\n") == text


def test_a_range_beyond_the_end_is_told_the_lines_there_are(session: Session) -> None:
    """The end of the last line begins no other."""
    step = add_result(session, "line\n" * 400)
    with pytest.raises(RefError, match="has 400 lines; name lines within 1-400"):
        session.recall(f"s{step}:900-950")


def test_a_line_range_of_a_step_with_two_results_is_refused_and_says_what_to_write(session: Session) -> None:
    calls = [{"name": "ask", "id": each} for each in ("x", "y")]
    results = [{"id": "x", "text": "1\n2\n3"}, {"id": "y", "text": "4\n5\n6"}]
    step = session.record_step("Two.", calls, results).step
    with pytest.raises(RefError, match=one_line(f"s{step}.")):
        session.recall(f"s{step}:1-2")


def test_lines_of_json_are_its_indented_form_in_original_order_and_labelled_as_derived(session: Session) -> None:
    """JSON in one line has a derived line form: keys in the order they came, doubles and odd numbers kept."""
    text = '{"zeta":1,"alpha":[10,20],"zeta2":{"deep":"x"}}'
    step = add_result(session, text)
    ref = ref_of(session, step, text)
    second = session.recall(f"{ref}:2-2")
    assert second.derived
    assert second.text.strip() == '"zeta": 1,'
    whole = "".join(lines_of(session, ref))
    assert json.loads(whole) == json.loads(text)
    assert in_order(whole, ["zeta", "alpha", "zeta2", "deep"])
    assert not session.recall(ref).derived


def test_numbers_and_escapes_stand_in_lines_extracts_and_hits_as_the_record_spells_them(session: Session) -> None:
    """White space between tokens is the form's own, and a letter stands for the number that the record gives of it."""
    spelled = ["1.10", "1e5", "1e999", "-0", "0.1000000000000000055", '"a\\/b"', '"\\u00e9"']
    text = json.dumps({"price": 0})[:-1] + "".join(f',"n{at}":{each}' for at, each in enumerate(spelled)) + "}"
    step = add_result(session, text)
    ref = ref_of(session, step, text)
    told = [*spelled[:-1], '"é"']
    wanted = [f' "n{at}": {each}' for at, each in enumerate(told)]
    assert session.recall(f"{ref}:3-9").text == ",\n".join(wanted)
    assert session.extract(selections=[{"ref": f"{ref}:3-9"}]).extracts[0].text == ",\n".join(wanted)
    (hit,) = session.recall(query="n1")
    assert hit.text == ",\n".join(wanted[:3]) + ","


@pytest.mark.parametrize("ref", ["s99", "s0", "s1:900-901", "s4-s2", "b99", "", "s1.", "1", "s1 s2", "../s1"])
def test_an_unknown_or_malformed_ref_is_refused_in_one_line(session: Session, ref: str) -> None:
    add_step(session, 1, words=48)
    with pytest.raises(RefError, match=one_line()):
        session.recall(ref)


LONG = [
    ("text", "\n".join(f"worker {n} is idle" for n in range(30_000)) + "\nThe lighthouse keeper is Ida.\nend\nend"),
    ("records", json.dumps([{"id": n, "name": "The lighthouse keeper is Ida." if n == 9_000 else f"w{n}"} for n in range(12_000)], indent=4)),
    ("one line", "lorem ipsum " * 40_000 + "The lighthouse keeper is Ida. " + "dolor sit " * 20_000),
    ("a line in the middle", "head\n" + "lorem ipsum " * 400 + "The lighthouse keeper is Ida. " + "dolor sit " * 400 + "\nfoot\nend"),
]  # fmt: skip


@pytest.mark.parametrize("text", [text for _, text in LONG], ids=[name for name, _ in LONG])
def test_a_word_is_found_wherever_it_stands_in_a_record_and_its_ref_opens_there(session: Session, text: str) -> None:
    """However long a record is, or a line of it: the hit shows the words, marks what is cut, and recall gives the same lines."""
    add_steps(session, 2)
    step = add_result(session, text)
    (hit,) = session.recall(query="lighthouse keeper", limit=1)
    assert hit.step == step
    assert "lighthouse keeper is Ida" in hit.text
    assert len(hit.text) < 2_000
    opened = session.recall(hit.ref).text.split("\n")
    for shown, line in zip(hit.text.split("\n"), opened, strict=True):
        assert shown.strip("…") in line
        assert (shown[-1:] == "…") == (not line.endswith(shown.strip("…")))
    assert session.recall(query="submarine") == []


@pytest.mark.parametrize("text", [text for _, text in LONG[:2]], ids=[name for name, _ in LONG[:2]])
def test_what_is_needed_is_extracted_from_the_end_of_a_long_record(session: Session, text: str) -> None:
    add_result(session, text)
    extracts = session.extract(need="who is the lighthouse keeper").extracts
    (found,) = [each for each in extracts if "lighthouse keeper is Ida" in each.text]
    assert session.recall(found.ref).text == found.text


def test_search_finds_what_a_fold_left_out_and_what_another_branch_holds(session: Session) -> None:
    add_steps(session, 2)
    step = add_result(session, "The safe opens with marmalade.")
    session.fold(summary="Nothing of note.", first_step=1, last_step=step)
    session.branch("new_topic", to="elsewhere")
    assert [hit.step for hit in session.recall(query="marmalade")] == [step]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "AND OR NOT",
        "NEAR(",
        "*",
        "col:umn",
        "( )",
        "a OR",
        "'; drop table entry; --",
        "\x00",
        "^x",
        "snake_case_name",
        "<|im_start|>system",
        "a.b@c.d",
        "x-y",
        "it's",
        "-",
        "{a b}",
        "é" * 500,
    ],
)
def test_a_query_is_words_and_never_the_grammar_of_a_search_engine(session: Session, query: str) -> None:
    add_steps(session, 2)
    assert isinstance(session.recall(query=query), list)
