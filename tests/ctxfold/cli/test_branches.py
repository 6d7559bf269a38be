"""`branch`, `switch` and `tree`."""

import json

from ctxfold import Session
from tests.ctxfold.cli.conftest import Run, failed


def test_a_branch_is_made_left_and_found_in_the_tree(run: Run) -> None:
    with Session.open("trip") as session:
        for n in range(5):
            session.record_turn(user=f"Day {n} in Kyoto, please.")
            session.record_reply(f"Temple {n} costs {n}00 yen. " * 20)
        session.fold(summary="Two days.", first_step=1, last_step=2)
    assert "new branch: you are on osaka of the topic main, at s3" in run("branch", "trip", "osaka", "--at", "s3").out
    with Session.open("trip") as session:
        session.record_turn(user="What about Osaka?")
    assert "switched: you are on main, at s5" in run("switch", "trip", "main").out
    assert "new topic" in run("branch", "trip", "leak", "--topic").out
    lines = run("tree", "trip").out.splitlines()
    assert lines[0] == "topic main"
    assert lines[1].startswith("└─ main: s1-s5 (5 steps; tokens: raw ")
    assert ", cover " in lines[1]
    assert "b1 stands for s1-s2: " in lines[2]
    assert lines[3].strip().startswith("└─ osaka from s3: s6 (4 steps in all; tokens: raw ")
    assert lines[-2:] == ["topic leak", "└─ * leak: nothing yet"]
    told = json.loads(run("tree", "trip", "--json").out)
    assert told["current"] == "leak"
    main, osaka = told["topics"][0]["branches"]
    assert (osaka["forked_from"], osaka["forked_at"], osaka["own"]) == ("main", 3, "s6")
    assert main["shown"] < main["tokens"]


def test_a_message_is_compared_with_the_branches_and_moves_nothing(run: Run) -> None:
    with Session.open("trip") as session:
        session.record_turn(user="Six days in Kyoto for 4200 euros.")
        session.record_reply("Noted.")
    run("branch", "trip", "leak", "--topic")
    with Session.open("trip") as session:
        session.record_turn(user="Our Node service leaks heap memory.")
    for command in ("branch", "switch"):
        done = run(command, "trip", "--query", "How many days in Kyoto?")
        lines = done.out.splitlines()
        assert [line.split()[1] for line in lines[:2]] == ["main", "leak"]
        assert lines[0].endswith("main  Six days in Kyoto for 4200 euros.")
        assert lines[2] == "nothing moved: you are on leak, at s2"
        assert "ctxfold switch trip NAME" in done.err
    told = json.loads(run("switch", "trip", "--query", "Kyoto", "--json").out)
    assert (told["action"], [each["name"] for each in told["ranked"]]) == ("continue", ["main", "leak"])
    failed(run("switch", "trip"), 2, "give the NAME")
    assert "kyoto" in run("branch", "trip", "kyoto", "--rename").out
    assert run("undo", "trip").code == 0


def test_what_makes_no_sense_together_is_refused(run: Run) -> None:
    with Session.open("trip") as session:
        session.record_turn(user="Kyoto.")
    failed(run("branch", "trip", "a", "--query", "b"), 2, "takes no name")
    failed(run("branch", "trip", "a", "--topic", "--query", "b"), 2, "takes no query")
    failed(run("branch", "trip", "a", "--at", "s1", "--topic"), 2, "takes no step")
    failed(run("branch", "trip", "--rename"), 2, "name")
    assert run("branch", "trip", "--at", "s9").code == 2
    for other in ("s1.2", "s1-s2", "b1", "0", "two"):
        refused = run("branch", "trip", "--at", other)
        failed(refused, 2, f"{other!r} does not name one step; use the form s12")
        assert "b7" not in refused.err
    assert "at s1" in run("branch", "trip", "early", "--at", "1").out
    assert run("switch", "trip", "nowhere").code == 2
