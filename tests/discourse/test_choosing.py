"""The embedded decider, on forests made by hand: what a cue does, what similarity does, and that doubt goes on."""

import pytest

from ctxfold.decisions.branch.choose import choose
from ctxfold.decisions.branch.cues import asks_for_all, cues_of
from ctxfold.decisions.branch.sight import name_of
from ctxfold.workspace.forest import Choice, Elsewhere, Grove, Limb, Turn


def turns(first: int, *said: str) -> tuple[Turn, ...]:
    """Turns of one step each."""
    return tuple(Turn((first + at,), words, f"s{first + at}.1") for at, words in enumerate(said))


TRIP = turns(1, "Six days in Kyoto with two kids", "Which district is quiet?", "Find a machiya house for 180 euros")
OSAKA = Limb(
    "osaka", "trip", 1, turns(4, "What if we stayed in Osaka near Umeda?", "What is the train pass?"), visited=9
)
LEAK = Limb("leak", "leak", 0, turns(6, "Our Node service leaks heap memory", "Compare two snapshots"), visited=12)
GROVE = Grove(
    TRIP, 1, Elsewhere("main", "trip", (OSAKA, LEAK)), ("main", "osaka"), (("trip", "main"), ("leak", "leak"))
)


def where(message: str, grove: Grove = GROVE) -> tuple[str, str | None]:
    """The action and, for a switch, where to."""
    made = choose(grove, message)
    return made.action, made.to if made.action == "switch" else None


@pytest.mark.parametrize(
    ("message", "to"),
    [
        ("Back to the heap: what do the snapshots show?", "leak"),
        ("Let's return to Osaka. Which hotel near Umeda?", "osaka"),
        ("About the Node service again, could it be a listener?", "leak"),
        ("Which heap snapshot tells more about leaks in Node?", "leak"),
        ("I prefer the second option.", "osaka"),
        ("回到 Node 的 heap，snapshot 怎么看？", "leak"),
        ("OSAKA: what about Umeda station?", "osaka"),
        ("我们最后还是决定去大阪 Umeda，住哪里？", "osaka"),
    ],
)
def test_a_return_finds_its_limb(message: str, to: str) -> None:
    assert where(message) == ("switch", to)


@pytest.mark.parametrize(
    "message",
    [
        "By the way, how do I prune roses?",
        "Different question: my tax return is due.",
        "Unrelated, but my dog limps.",
        "换个话题，我想学钢琴",
    ],
)
def test_what_says_it_is_something_else_begins_a_topic(message: str) -> None:
    assert where(message)[0] == "new_topic"


@pytest.mark.parametrize(
    "message",
    [
        "What if we rented a camper instead?",
        "Alternatively, only three days in Kyoto?",
        "假如改去北海道呢？",
        "Could a camper do the same for less?",
        "One option is a cabin in Uji. What should I check?",
        "Would a ryokan be a better choice?",
    ],
)
def test_an_alternative_forks_where_it_turns_off(message: str) -> None:
    made = choose(GROVE, message)
    assert made.action == "create"
    assert made.at in (1, 2, 3)


@pytest.mark.parametrize(
    "message",
    [
        "And the second district?",
        "Make it seven days.",
        "ok",
        "Is it far?",
        "?",
        "",
        "180",
        "Thanks, that helps.",
        "The last one sounds good.",
    ],
)
def test_everything_else_goes_on(message: str) -> None:
    assert where(message) == ("continue", None)


def test_confidence_is_a_share_and_doubt_says_so() -> None:
    for message in ("Back to the other one", "Hm, memory", "Why?", "What if"):
        made = choose(GROVE, message)
        assert 0 <= made.confidence <= 1
        assert made.reason


def test_the_first_message_goes_on() -> None:
    empty = Grove((), 0, Elsewhere("main", "main"), ("main",), (("main", "main"),))
    assert choose(empty, "By the way, back to the other plan instead") == Choice("continue", reason="the first message")


@pytest.mark.parametrize(
    "message",
    ["Give me the final plan.", "Summarise everything we discussed", "最终方案是什么？", "Put it all together"],
)
def test_a_question_for_everything_is_known(message: str) -> None:
    assert asks_for_all(message)


@pytest.mark.parametrize(
    ("cue", "yes", "no"),
    [
        ("chooses", "We've decided on the barn.", "I picked 4 kilos of plums."),
        ("chooses", "最后我们决定去成都。", "成都好玩吗？"),
        ("original", "Back to the regular meal plan.", "How about lunch?"),
        ("deictic", "How does it renew in that setup?", "How does a certificate renew?"),
        ("mishap", "What do we do if it rains?", "What if we took the train?"),
        ("begins", "Let's talk about something else.", "Let's talk about the hotel."),
        ("begins", "Can we switch to LaTeX for a moment?", "Can we switch to the night train?"),
        ("turns", "What about a camper instead of the house?", "What about breakfast?"),
    ],
)
def test_a_cue_is_read_and_its_neighbour_is_not(cue: str, yes: str, no: str) -> None:
    assert getattr(cues_of(yes), cue)
    assert not getattr(cues_of(no), cue)


def test_words_that_both_branches_hold_are_no_reason_to_leave_one() -> None:
    site = turns(
        1, "The site runs on a VPS with Nginx", "How do I get a TLS certificate?", "What if we used Docker instead?"
    )
    trunk = Limb("main", "main", 0, (), visited=2)
    grove = Grove(site, 2, Elsewhere("docker", "main", (trunk,)), ("main", "docker"), (("main", "docker"),))
    made = choose(grove, "And how does the certificate get renewed in that setup?")
    assert made.action == "continue"
    assert made.confidence >= 0.8


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Unrelated: I need a regular expression for plates", "regular-expression-plates"),
        ("By the way, my laptop overheats", "laptop-overheats"),
        ("Quick detour", "detour"),
    ],
)
def test_a_name_is_made_of_the_matter_not_of_what_leads_to_it(message: str, name: str) -> None:
    assert name_of(message) == name


def test_cues_of_a_very_long_message_are_read_in_time() -> None:
    for piece in ("back to ", "(", "let's go ", "my my ", "the option ", "，", "if we went "):
        cues_of(piece * 200_000)
