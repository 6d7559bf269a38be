"""A task in words becomes terms and kinds of answer."""

import pytest

from browser_agent.deciders.explorer.question import parse


def test_names_flags_and_quoted_words_are_names():
    question = parse("What does `follow` do in files.copy() with --deep or 'strict'?")
    assert [term.key for term in question.names] == ["follow", "files.copy", "--deep", "strict"]


def test_words_that_only_put_the_question_are_no_terms():
    assert [term.key for term in parse("How do I get the size of a file?").terms] == ["siz", "fil"]


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("Which exception does files.copy raise for one file?", "exception"),
        ("In which version was files added?", "version"),
        ("When was the poll function introduced?", "version"),
        ("What is the default value of retries?", "default"),
        ("How many retries are there?", "number"),
        ("Which function moves a folder?", "name"),
        ("How can I move a folder?", "howto"),
        ("What does rmtree do?", "meaning"),
        ("Who wrote it?", "person"),
    ],
)
def test_a_question_asks_for_a_kind_of_answer(task: str, kind: str):
    assert kind in parse(task).kinds


def test_a_task_in_another_script_still_has_terms():
    assert parse("文件复制函数的默认值是什么").terms


def test_a_task_without_a_telling_word_has_none():
    assert parse("what is it?").terms == ()
