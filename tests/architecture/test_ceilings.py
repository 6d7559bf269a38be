"""The ratchet: no room grows past its ceiling, and nothing in the house grows past what it was."""

from tests.architecture.weigh import compare, count_code, read_ceilings, summarise, tighten, weigh


def test_no_room_is_above_its_ceiling() -> None:
    sizes, ceilings = weigh(), read_ceilings()
    above = compare(sizes, ceilings)
    assert not above, "\n".join(above)
    print(summarise(sizes, ceilings))


def test_a_room_above_its_ceiling_is_named_with_the_next_move() -> None:
    (line,) = compare({"ctxfold/view": {"code": 702}}, {"ctxfold/view": {"code": 682}})
    assert line.startswith("ctxfold/view: 702 code, ceiling 682. Delete 20")


def test_a_room_without_a_ceiling_is_above_it() -> None:
    assert compare({"ctxfold/new": {"files": 1}}, {})


def test_tightening_lowers_and_never_raises() -> None:
    lowered = tighten({"a": {"code": 5}, "b": {"code": 9}}, {"a": {"code": 7}, "b": {"code": 8}, "gone": {"code": 1}})
    assert "code = 5" in lowered
    assert "code = 8" in lowered
    assert "gone" not in lowered


def test_code_is_what_is_no_comment_docstring_or_import() -> None:
    import ast

    text = '"""Doc."""\nimport os\n\n# a comment\nX = """two\nlines"""\n\n\ndef f() -> None:\n    """Doc."""\n    return None\n'
    assert count_code(text, ast.parse(text)) == 4
