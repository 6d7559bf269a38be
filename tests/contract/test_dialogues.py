"""Long dialogues with shifting topics: every number, date and name the user said is in a 2,000-token view at every later turn."""

import json
import random

import pytest

from ctxfold import Session
from ctxfold.text.values import entities
from tests.support.sessions import add_call

TURNS = 25
BUDGET = 2_000

PEOPLE = ["Ana Silva", "Omar Rossi", "Sofia Kim", "Jean Dupont", "Mei Chen"]
CITIES = ["Lyon", "Porto", "Rome", "Oslo", "Kyoto", "Chicago"]
ENGLISH = [
    "Hi, I need to book a hotel in {city} from {month} {day} for {few} nights, and it must not cost more than {many} EUR a night because my company is strict about this.",
    "Actually, could you please change the arrival to {month} {day}, 2026 and put it under {person}, phone 555-{many}-{big}? Thank you so much for your patience, I know this is a lot.",
    "By the way, my reservation code is {code} and I'd rather fly to {city} with a budget of ${many} than take the train, since the train takes far too long for me.",
    "On second thought, cancel the trip to {city}. Let's talk about the report for {person} instead: it is due on {month} {day} and needs exactly {few} pages.",
    "Could you also check whether room {few}B is free at 14:{day}? We are {few} people and two of us are vegetarian, so keep that in mind when you order.",
    "Back to {city}: the seminar there starts at 09:{day}, so I cannot arrive later than {month} {day}. And {person} comes along, with {few} bags of {day} kg each.",
]
CHINESE = [
    "你好，帮我订一家{city}的酒店，{day}日入住，住{few}晚，每晚不超过{many}元，公司规定很严格。",
    "其实改成{day}日到吧，订单写{person}的名字，电话555-{many}-{big}，谢谢你这么耐心。",
    "对了，我的预订编号是{code}，我不想坐火车，还是坐飞机去{city}吧，预算{many}元以内。",
    "算了，{city}的行程取消吧。我们先说{person}的报告，{day}号之前要交，正好{few}页。",
    "另外帮我看看{few}B会议室14:{day}有没有空？我们一共{few}个人，其中两个人吃素，点餐的时候请注意。",
]


def turns(forms: list[str], seed: int) -> list[str]:
    """A dialogue, the same for the same seed."""
    chance = random.Random(seed)
    return [
        chance.choice(forms).format(
            city=chance.choice(CITIES),
            person=chance.choice(PEOPLE),
            month=chance.choice(["May", "June", "October"]),
            day=chance.randint(10, 28),
            few=chance.randint(2, 9),
            many=chance.randint(100, 900),
            big=chance.randint(1000, 9999),
            code="".join(chance.choices("ABCDEFGH0123456789", k=6)),
        )
        for _ in range(TURNS)
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("forms", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_nearly_every_value_of_the_user_stays_in_view_for_25_turns(
    session: Session, forms: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    wanted: list[str] = []
    for n, turn in enumerate(turns(forms, seed)):
        session.record_turn(user=turn)
        wanted += [span.of(turn) for span in entities(turn)]
        if chance.random() < 0.6:
            rows = [{"id": f"X{n}{k}", "price": chance.randint(1, 999), "name": f"thing {k}"} for k in range(60)]
            add_call(session, "search", {"n": n}, json.dumps(rows))
            session.extract(need=turn, budget=200)
        session.record_reply("Here is what I have so far. " + "Nothing more to say about it. " * 8)
        session.consolidate(BUDGET)
        view = session.view(BUDGET)
        assert view.tokens <= BUDGET
        assert len([fact for fact in wanted if fact not in view.text]) <= 1


def test_a_message_that_outgrows_the_view_keeps_what_binds_in_it(session: Session) -> None:
    chatter = "I was thinking about it the whole day and could not decide what to do about any of this at all. " * 6
    for n in range(12):
        session.record_turn(user=f"{chatter}We want at most {300 + n} EUR for room Q{n}-77. {chatter}")
        session.record_reply("Yes.")
    text = session.view(BUDGET).text
    assert [n for n in range(12) if f"at most {300 + n} EUR" not in text] == []
    assert [n for n in range(12) if f"Q{n}-77" not in text] == []
    small = session.view(1_000).text
    assert [n for n in range(12) if f"Q{n}-77" not in small] == []
