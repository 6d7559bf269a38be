"""Long dialogues with shifting topics, made up: each turn is a form of some walk of life with values planted in it, in English or in Chinese.

The values are what the measure asks for; where they stand in a turn is known because they were put there, not because a pattern of ours found them.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass

__all__ = ["LANGUAGES", "Dialogue", "Turn", "dialogue"]

TURNS = 25

EN_VALUES = {
    "person": ["Ingrid Bergström", "Dr. Patel", "Tomás O'Connor", "Nguyễn Văn An", "Yusuf Demir", "Mrs. Achterberg", "Wren Halloway", "Kwame Boateng"],
    "place": ["Tromsø", "Kilkenny", "Baton Rouge", "Ulm", "Valparaíso", "Port Elgin", "Gdańsk", "Chiang Mai"],
    "date": ["14 March", "March 3rd", "2027-05-19", "11/06/2027", "next Thursday", "the 9th of August", "October 22", "Sunday 4 July"],
    "time": ["7:45 pm", "half past six", "16:20", "noon", "9 am", "a quarter to eight", "21:05"],
    "money": ["€1,250", "$89.99", "£47", "3,400 kronor", "CHF 612.50", "280 dollars", "¥15,000"],
    "few": ["three", "two", "7", "five", "12", "a dozen", "eleven"],
    "code": ["TX-4471-B", "QJ8KM2", "#50917", "LH 1832", "v2.3.1", "INV/2027/118", "B4.12", "ZR-0093"],
    "phone": ["+44 20 7946 0018", "555-0142", "(312) 555-0177", "0049 731 5550"],
    "mail": ["wren.h@example.org", "office@kilkenny.example", "an.nguyen+tax@example.com"],
    "size": ["60x80 cm", "42 litres", "1.75 m", "18 kg", "size 44", "12.5%", "3/4 inch", "-5 °C"],
    "title": ["\"The Long Way Home\"", "'Blue Harvest'", "\"Quarterly Notes\""],
}  # fmt: skip
ZH_VALUES = {
    "person": ["王小明", "欧阳娜", "李建国", "陈医生", "赵敏", "司马青"],
    "place": ["西安", "成都", "哈尔滨", "景德镇", "浦东", "大理"],
    "date": ["3月14日", "下周四", "2027年5月19日", "八月九号", "10月22号", "周日"],
    "time": ["下午三点半", "14:20", "晚上八点", "中午", "早上9点"],
    "money": ["1250元", "三千块", "89.9元", "¥4800", "两万五"],
    "few": ["三", "两", "7", "五", "12", "十一"],
    "code": ["京A12345", "TX-4471", "QJ8KM2", "B座1203", "订单50917", "MU5138"],
    "phone": ["13812345678", "010-55550142"],
    "mail": ["wang@example.cn", "bangong@example.com"],
    "size": ["60×80厘米", "42升", "18公斤", "44码", "12.5%", "零下五度"],
    "title": ["《长路归家》", "《蓝色收获》", "“季度笔记”"],
}  # fmt: skip

EN_FORMS = {
    "clinic": [
        "I need to move my appointment with {person} from {date} to {date2}, ideally around {time}.",
        "The prescription is {code} and I must not take more than {size} of it, so please mention that to {person}.",
        "Could you call the pharmacy in {place} on {phone}? They close at {time} and I never get through.",
        "My daughter weighs {size} and is allergic to penicillin, she sees {person} on {date}.",
    ],
    "wedding": [
        "We have room for {few} tables in {place}, and the budget for flowers is {money}, not a cent more.",
        "Please book {person} for the music from {time} on {date}; the fee was {money}.",
        "Actually, move the rehearsal to {date}, {few} people are coming from {place}.",
        "No seafood for table {few}, and the cake must be ready by {time}.",
    ],
    "workshop": [
        "The car, plate {code}, makes a noise above {size}; bring it to {person} in {place} before {date}.",
        "Do not replace the belt if it costs more than {money}. Ask {person} first, {phone}.",
        "On second thought, order {few} of the {code} instead, they fit {size} too.",
        "I'll pick it up on {date} at {time}, and I pay by card, reference {code}.",
    ],
    "taxes": [
        "File the return for {person} under {code}, due {date}, and deduct the {money} for the office in {place}.",
        "The bank wrote that {money} came in on {date} from {person}; write to {mail} and ask what it was for.",
        "Forget the {money} from {place}, that was a loan. Keep the {size} rate.",
        "I work from home {few} days a week, since {date}.",
    ],
    "film": [
        "We shoot {title} in {place} from {date}, call time {time}, {few} extras.",
        "Replace {person} in scene {few}, and send the new pages to {mail} by {time}.",
        "The lens is {code}, rented until {date} for {money} a day; it may not get wet.",
        "Back to {title}: the last cut is {few} minutes too long, {person} thinks.",
    ],
    "garden": [
        "Plant {few} apple trees {size} apart, delivery {date} to {place}, order {code}.",
        "The pond holds {size}, so never add more than {few} fish.",
        "My neighbour {person} waters on {date}, the key is in box {code}.",
        "The fence may cost {money} at most; {person} offered it for {money2}.",
    ],
}
ZH_FORMS = {
    "clinic": [
        "请帮我把{person}的门诊从{date}改到{date2}，最好{time}左右。",
        "处方号是{code}，每天不能超过{size}，麻烦告诉{person}。",
        "你给{place}的药店打个电话，{phone}，他们{time}关门。",
        "我女儿{size}，青霉素过敏，{date}去看{person}。",
    ],
    "wedding": [
        "酒店在{place}，只能摆{few}桌，鲜花预算{money}，一分也不能多。",
        "{date}{time}请{person}来演奏，费用说好是{money}。",
        "其实彩排改到{date}吧，有{few}个人从{place}过来。",
        "第{few}桌不要海鲜，蛋糕{time}之前一定要到。",
    ],
    "workshop": [
        "车牌{code}，速度超过{size}就有响声，{date}之前送到{place}给{person}看看。",
        "皮带要是超过{money}就别换，先问{person}，电话{phone}。",
        "算了，还是订{few}个{code}吧，{size}的也能用。",
        "我{date}{time}去取，刷卡，单号{code}。",
    ],
    "taxes": [
        "帮{person}申报，编号{code}，{date}截止，{place}办公室的{money}要扣掉。",
        "银行说{date}有{money}到账，是{person}汇的，写信到{mail}问一下。",
        "{place}那笔{money}不用算了，那是借款。税率按{size}。",
        "从{date}开始我每周在家办公{few}天。",
    ],
    "film": [
        "我们{date}在{place}拍{title}，{time}集合，群演{few}位。",
        "第{few}场把{person}换掉，{time}之前把新剧本发到{mail}。",
        "镜头型号{code}，租到{date}，一天{money}，千万不能进水。",
        "回到{title}，{person}觉得最后一版长了{few}分钟。",
    ],
    "garden": [
        "种{few}棵苹果树，间隔{size}，{date}送到{place}，订单{code}。",
        "池子装{size}水，鱼最多{few}条。",
        "邻居{person}{date}来浇水，钥匙在{code}号箱。",
        "篱笆最多{money}，{person}报价{money2}。",
    ],
}
EN_TALK = [
    "I have been thinking about this all week and could hardly sleep because of it.",
    "You know how these things go, one always ends up doing everything oneself.",
    "Anyway, thank you so much for staying patient with me while I sort this out.",
    "My sister says I worry too much, and perhaps she has a point there.",
    "It used to be so much easier when we all still lived in the same house.",
    "I do hope that makes sense, I am writing this on the train and people keep talking.",
    "Sorry if I repeat myself, there is just a lot going on at the moment.",
    "The weather does not help either, it has been raining since the morning.",
]
ZH_TALK = [
    "这件事我想了好几天，晚上都睡不好觉。",
    "你也知道，这种事情最后总得自己来。",
    "不管怎么说，谢谢你一直这么耐心地帮我。",
    "我姐姐总说我想得太多，也许她说得有道理。",
    "以前大家住在一起的时候，哪有这么麻烦。",
    "我在火车上写的，旁边的人一直在聊天，希望你能看懂。",
    "要是我说重复了请别介意，最近事情实在太多。",
    "天气也不好，从早上一直下雨。",
]
LANGUAGES = {"en": (EN_FORMS, EN_VALUES, EN_TALK), "zh": (ZH_FORMS, ZH_VALUES, ZH_TALK)}
_BLANK = re.compile(r"\{(\w+?)2?\}")


@dataclass(frozen=True)
class Turn:
    """One message of the user, the values planted in it, and what a tool returned for it, if one was called."""

    text: str
    values: tuple[str, ...]
    result: str


@dataclass(frozen=True)
class Dialogue:
    """A dialogue: its language, and its turns."""

    language: str
    turns: tuple[Turn, ...]


def dialogue(language: str, seed: int, talk: int = 0) -> Dialogue:
    """A dialogue, the same for the same arguments.

    Args:
        language: `en` or `zh`.
        seed: of every choice in it.
        talk: sentences of small talk around what each turn says.
    """
    forms, values, chatter = LANGUAGES[language]
    chance = random.Random(f"{language} {seed} {talk}")
    topics = chance.sample(list(forms), 4)
    topic = topics[0]
    turns: list[Turn] = []
    for at in range(TURNS):
        if chance.random() < 0.45:
            topic = chance.choice(topics)
        planted: list[str] = []

        def plant(found: re.Match[str], planted: list[str] = planted) -> str:
            value = chance.choice(values[found[1]])
            planted.append(value)
            return value

        said = [_BLANK.sub(plant, form) for form in chance.sample(forms[topic], 1 + (chance.random() < 0.3))]
        lines = [*said, *(chance.choice(chatter) for _ in range(talk))]
        chance.shuffle(lines)
        turns.append(Turn(("" if language == "zh" else " ").join(lines), tuple(planted), _result(chance, at)))
    return Dialogue(language, tuple(turns))


def _result(chance: random.Random, at: int) -> str:
    """What a tool returned: bulky rows, for a little more than half of the turns."""
    if chance.random() > 0.6:
        return ""
    rows = [{"id": f"R{at}-{row}", "score": chance.randint(1, 999), "name": f"entry {row}"} for row in range(60)]
    return json.dumps(rows)
