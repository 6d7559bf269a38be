"""Which to-do item or constraint a clause speaks of: shared telling words, kinds of act, and what a bound bounds. It changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from ctxfold.text import query_words, stem, words
from ctxfold.text.phrases import listed, pattern
from ctxfold.workspace.intent import Item

__all__ = ["altered", "best", "call_kind", "content", "dimensions", "given_up", "instead_of", "kind", "overlap"]

_KINDS = {
    "book": "book reserve rebook booking reservation hire rent",
    "buy": "buy purchase order pay payment checkout",
    "find": "find search look get check show tell list compare recommend suggest track fetch read query browse lookup retrieve view see describe define clarify explain research calculate summarize summarise pick choose",
    "cancel": "cancel cancellation",
    "change": "change update modify edit upgrade move reschedule rename replace set switch put swap substitute extend shorten raise lower increase decrease use",
    "make": "create make write add draft plan build prepare organize organise arrange schedule implement generate insert submit",
    "send": "send email message call notify share forward invite text",
    "delete": "delete remove",
    "return": "return refund exchange",
    "fix": "fix repair reset enable disable toggle resolve restart refactor debug",
    "run": "run test deploy install execute start",
    "apply": "apply register enroll enrol subscribe",
    "edit": "translate proofread rewrite convert",
}
_EAST = {
    "book": "预订 预定 订 租 预约 改订", "buy": "购买 买 下单 付款", "find": "查 找 搜 看看 比较 推荐 了解 解释 讲 说明 介绍 告诉 列出 计算 整理 总结", "cancel": "取消 退订",
    "change": "修改 更改 改签 改 换 升级 调到 调整", "make": "写 做 制定 规划 计划 安排 创建 添加 准备", "send": "发送 发给 发邮件 发短信 发微信 打电话 寄 转发 发",
    "delete": "删除 删", "return": "退货 退款 退", "fix": "修复 解决 修", "run": "运行 测试 部署 安装",
    "apply": "申请 办理 报名 注册 登记 办", "edit": "翻译 译成 校对 润色",
}  # fmt: skip
_BY_STEM = {stem(word): kind for kind, listed in _KINDS.items() for word in listed.split()}
_EMPTY = frozenset(
    stem(word)
    for word in """actually instead rather thought second mind change make switch let go back return plan original cancel forget never drop skip scrap
    please thank need want like love help look find book get now also then still keep no not longer anymore one thing way already done good great again
    okay ok yes sorry wait hi hello could would can you me my it that this them would""".split()
)
_EAST_EMPTY = re.compile(
    r"其实|改成|改为|换成|改到|换到|改一下|取消|算了|不对|等等|不用|不要|不需要|回到|恢复|还是|原来|帮我|帮忙|我想|我要|需要|想要|一下|请|已经|能不能|可以|麻烦|给我|了|吧|的|把|个|再|也|就"
)
_ALTERED = re.compile(
    r"\b(?:change|update|modify|move|reschedule|replace|set|switch|swap|substitute|extend|shorten|raise|lower|increase|decrease|upgrade)\s+(.{2,60}?)(?:\s+(?:to|for|with|into|by|from|until)\b|[,.;!?]|$)|\buse\s+.{2,40}?\s+(?:for|as)\s+(.{2,40}?)(?:[,.;!?]|$)|把(.{1,14}?)(?:改|换|调)|^\W*(.{1,12}?)(?:改|换|调)(?:成|到|为|用)",
    re.I,
)
_IDLE_VERBS = frozenset({"help", "try", "start", "let", "put", "take", "name", "please"})
_STOPS = re.compile(r"[,.;:!?，。；：！？]|\s[—–-]\s")
_INSTEAD_OF = re.compile(
    r"\b(?:instead of|rather than|not)\s+(?!to\b)(.{2,60}?)(?:[,.;!?]|\bbut\b|$)|而不是(.{1,20}?)(?:[，。；！]|$)|不是(.{1,20}?)(?:，|而是)|(?:把|从)(.{1,20}?)(?:改|换)|[，,](?:就)?不(?:要|坐|去|用)?([^，。；]{1,12})了",
    re.I,
)
_MEASURED = re.compile(
    r"([€£¥₹$])\s?\d|(\d)[\d.,:]*\s?(%|[A-Za-z]{1,14}|[\u3400-\u9fff]{1,2})|([一二两三四五六七八九十百])\s?([晚天人位元块点])"
)
_UNITS = {
    "money": "eur euro euros usd dollar dollars gbp pounds yuan rmb cny 元 块 美元 欧元 bucks",
    "date": "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec 月 日 号 st nd rd th",
    "time": "am pm oclock 点 时",
    "nights": "night nights 晚",
    "days": "day days 天",
    "people": "people persons person guests adults passengers 人 位",
}
_UNIT = {unit: name for name, listed in _UNITS.items() for unit in listed.split()}
_DAYS = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b|\bmay \d|周[一二三四五六日末]|星期|明天|后天|今天|tomorrow",
    re.I,
)
_MONEY = re.compile(r"\b(?:budget|price|cost)\b|预算|价格|费用", re.I)


@lru_cache(maxsize=4_096)
def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about: no cue, no kind of act, no filler."""
    plain = _EAST_EMPTY.sub(" ", text)
    return frozenset(
        word for word in query_words(plain) if word not in _EMPTY and (len(word) > 1 or not word.isascii())
    )


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the smaller set stands in the other, 0 to 1."""
    if not one or not other:
        return 0.0
    return len(one & other) / min(len(one), len(other))


@lru_cache(maxsize=4_096)
def kind(text: str) -> str:
    """What sort of act a text asks for: `book`, `find`, …; empty when it names none."""
    for word in words(text):
        if word in _BY_STEM:
            return _BY_STEM[word]
    for word in words(text):
        if word in _verbs():
            return word
    found = [
        (text.index(word), -len(word), name)
        for name, listed in _EAST.items()
        for word in listed.split()
        if word in text
    ]
    return min(found)[2] if found else ""


def call_kind(name: str) -> str:
    """What sort of act a call is, from its name: `create_booking` books, `get_booking` finds."""
    said = words(re.sub(r"[-./]", "_", name))
    parts = [part for part in said if part in _BY_STEM]
    if not parts:
        return next((part for part in said if part in _verbs()), "")
    first = _BY_STEM[parts[0]]
    others = [_BY_STEM[part] for part in parts[1:] if _BY_STEM[part] != first]
    return (
        others[0] if first in ("make", "send", "run", "change") and others and others[0] in ("book", "buy") else first
    )


@cache
def _verbs() -> frozenset[str]:
    """The stems of verbs that ask for something and belong to no kind: each is one of its own."""
    return (
        frozenset(stem(word) for word in listed("verb") if word.isalpha() and word not in _IDLE_VERBS) - _BY_STEM.keys()
    )


def given_up(text: str) -> frozenset[str]:
    """What a cancellation takes back: the words its cue bears on, up to the next stop; those before it where none follow, as in 酒店不用了."""
    for cue in pattern("clause.cancels").finditer(text):
        stop = _STOPS.search(text, cue.end())
        behind = content(text[cue.end() : stop.start() if stop else len(text)])
        before = _STOPS.split(text[: cue.start()])[-1]
        about = behind or content(cue[0]) | content(before)
        if about:
            return about
    return frozenset()


def altered(text: str) -> frozenset[str]:
    """What a change is to be made to: the words between its verb and what it becomes."""
    found = _ALTERED.search(text)
    return content(next(part for part in found.groups() if part)) if found else frozenset()


def instead_of(text: str) -> frozenset[str]:
    """What a correction says is no longer meant: the words after `instead of`, `rather than`, 而不是."""
    found = _INSTEAD_OF.search(text)
    return content(next(part for part in found.groups() if part)) if found else frozenset()


def best(said: frozenset[str], items: Iterable[Item], least: float, *, signs: bool = True) -> Item | None:
    """The item that shares most with a set of words; of equals the newest; None below `least`.

    Words of two signs, as scripts without blanks have them, overlap less for the same meaning: half is enough, and where no pair is shared a sign is, unless `signs` is off.
    """
    items = list(items)
    east = any(not word.isascii() for word in said)
    least = least / 2 if east else least
    found = [(overlap(said, content(item.text)), at) for at, item in enumerate(items)]
    share, at = max(found, default=(0.0, 0))
    if share >= least and share > 0:
        return items[at]
    if not (east and signs):
        return None
    single = frozenset(sign for word in said if not word.isascii() for sign in word)
    counted = [(len(single & set("".join(content(item.text)))), at) for at, item in enumerate(items)]
    most, at = max(counted, default=(0, 0))
    return items[at] if most and sum(count == most for count, _ in counted) == 1 else None


def dimensions(text: str) -> frozenset[str]:
    """What the values of a text measure: money, a date, nights, people, or the unit itself."""
    found: set[str] = set()
    for sign, _, unit, _, east in _MEASURED.findall(text):
        plain = unit.lower() or east
        found.add("money" if sign else _UNIT.get(plain) or _UNIT.get(plain[:1]) or stem(plain))
    if _DAYS.search(text):
        found.add("date")
    if _MONEY.search(text):
        found.add("money")
    return frozenset(found)
