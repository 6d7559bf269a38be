"""A result that came before stands once in a view: the next says where, or what changed of it, as long as the first stands whole."""

from ctxfold import Session

CALL = {"name": "bash", "args": {"command": "make check"}}


def report(seconds: int = 0) -> str:
    return "\n".join([*(f"package {n} was checked, {n * 7919} files" for n in range(20)), f"took {seconds} s"])


def check(session: Session, text: str) -> str:
    """Record one check; the view after it."""
    session.record_step("Check.", [CALL], [{"text": text}])
    return session.view(8_000).text


def test_a_result_that_stands_already_is_one_line_that_names_it(session: Session) -> None:
    check(session, report())
    view = check(session, report())
    assert view.count("package 7 was checked") == 1
    assert "< as s1.3, word for word" in view
    assert session.recall("s2.3").text == report()


def test_of_a_result_that_differs_in_a_line_from_one_that_began_alike_the_change_stands(session: Session) -> None:
    check(session, report(3))
    check(session, report(4))
    view = check(session, report(5))
    assert view.count("package 7 was checked") == 1
    assert "<<s2.3 as s1.3, but:\n@@ -21 +21 @@\n-took 3 s\n+took 4 s\ns2.3>>" in view
    assert "<<s3.3 as s1.3, but:\n@@ -21 +21 @@\n-took 3 s\n+took 5 s\ns3.3>>" in view


def test_a_result_stands_whole_again_once_the_one_it_named_is_folded(session: Session) -> None:
    check(session, report(3))
    check(session, report(4))
    session.record_reply("Checked.")
    session.fold("The first check took 3 s.", 1, 1)
    view = session.view(8_000).text
    assert report(4) in view
    assert " but:" not in view


def test_a_view_too_small_for_all_of_it_names_nothing_that_is_cut(session: Session) -> None:
    for n in range(3):
        check(session, report(n))
    view = session.view(300)
    assert view.tokens <= 300
    assert "as s1.3" not in view.text
