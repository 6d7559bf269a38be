"""What a user's clause does, read from cue words, in English and Chinese: asks, corrects, cancels, returns, settles, binds. It keeps no state.

Source: U-Fold refolds on a change of intent; its signs are words such as "actually", "instead", "cancel", "back to" and their Chinese counterparts. Cues say
what a clause may do; whether it does is decided against the to-do, elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ctxfold.text import Span, entities, sentences

__all__ = ["Clause", "asks", "clauses", "facts_of"]


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a user's message that does one thing.

    Attributes:
        text: its words, a slice of the message.
        asks: it asks for something to be done.
        corrects: it takes the place of something said before.
        cancels: it takes something back.
        returns: it goes back to something given up.
        settles: it says that something is done.
        binds: it sets a bound or forbids, or holds a value that must stay exact.
        vague: it names nothing itself and leans on what was said just before.
    """

    text: str
    asks: bool = False
    corrects: bool = False
    cancels: bool = False
    returns: bool = False
    settles: bool = False
    binds: bool = False
    vague: bool = False


_VERBS = (
    "find|book|rebook|search|look|check|get|show|tell|give|send|buy|order|compare|plan|reserve|schedule|reschedule|write|make|create|add|update|"
    "change|cancel|fix|help|list|pick|choose|draft|call|email|pay|return|exchange|refund|track|summari[sz]e|translate|explain|calculate|remind|set|"
    "open|move|upgrade|modify|remove|delete|rename|run|test|deploy|install|build|refactor|implement|review|merge|start|try|prepare|organi[sz]e|"
    "arrange|recommend|suggest|hire|rent|visit|include|print|upload|download|analy[sz]e|research|invite|notify|file|apply|put"
)
_LEAD = r"(?:(?:and|but|so|then|also|now|ok(?:ay)?|yes|no|hi|hello|hey|actually|please|first|next|finally|instead|well|great|thanks|sorry|wait|oh|alright|sure|afterwards|meanwhile)\b[,!. ]*)*"
_ASKS = re.compile(
    rf"^\W*{_LEAD}(?:(?:just|kindly|please|let'?s|let us) )*(?:{_VERBS})\b"
    rf"|\b(?:can|could|would|will) (?:you|we)\b|\bplease (?:also |just |then )?(?:{_VERBS})\b"
    r"|\b(?:i|we)(?:'d| would)? (?:also |really |now |just )?(?:like|love|want|need|wish)\b(?! to know)|\b(?:i'm|i am|we're|we are) looking (?:for|to)\b|\bhelp me\b"
    r"|请(?!别|勿|不要|客气)|(?<!地)(?<!在)帮我|帮忙|我想(?![了过得起到不])|我要|我们要|我们想|需要|想要|能不能|能否|可以(?:帮|给)|麻烦(?=[你您帮把给请])|给我"
    r"|预订|预定|推荐|安排|整理|总结|翻译|比较|发送|发给|规划(?!的|了)|(?:查|找|看|搜|订|买|写|做|选)(?:一下|一个|一家|一份|一张|几个|查|出|好)(?=[\u3400-\u9fffA-Za-z0-9])"
    r"|^\W*(?:再|先|也|另外|然后|顺便|那|就|你)*(?:查|找|看|搜|订|买|写|做|选|计划)(?![的了着过得到懂来起完])",
    re.I,
)
_FORBIDS = re.compile(
    rf"^\W*{_LEAD}(?:no\b|not\b|don'?t\b|do not\b|never\b|nothing\b|avoid\b|without\b)|^\W*(?:也|都|千万|还有|而且|请)?(?:不要|不用|别|不能|不可|不得|不想|避免|不吃|不必)",
    re.I,
)
_IDLE = re.compile(
    r"^\W*(?:(?:hi(?: there)?|hello|hey|yes|yeah|yep|ok(?:ay)?|sure|great|thanks?|thank you|perfect|good|fine|right|alright|please|so much|very much|sounds good|go ahead|proceed|continue|confirm(?:ed)?|"
    r"i(?:'d| would) like to (?:proceed|continue|go ahead)(?: with (?:that|it|this|the \w+))?|that works|for (?:your|the) help|let me know|could you please|can you please|好的?|谢谢|可以|行|嗯|是的|没问题|继续|对)[\s,.!。，！]*)+$",
    re.I,
)
_CORRECTS = re.compile(
    r"\b(?:actually|instead|rather than|on second thou?ghts?|chang(?:e|ed|ing) (?:my|our) (?:minds?|plans?)|make (?:it|that|them)\b|change (?:it|that|this|them)\b|"
    r"switch (?:it |that |them )?to|correction|i meant?\b|scratch that|no,? wait|wait,|not [^,.;]{1,40} but )"
    r"|其实|改成|改为|换成|改主意|改变主意|改到|换到|改一下|更正|说错|我的意思是|而不是|不是[^，。；]{1,20}而是|变更为|还是(?!回|按|原|之前)[^，。；]{1,20}吧",
    re.I,
)
_CANCELS = re.compile(
    r"\b(?:cancel|call off|forget(?: about)?|never ?mind|scrap|drop|skip|leave out|take out|remove|no longer (?:need|want)|"
    r"(?:don'?t|do not|won'?t|doesn'?t) (?:really )?(?:need|want|bother|worry)\b[^.;]*\b(?:any ?more|any longer|after all|now)|don'?t (?:bother|worry)|"
    r"(?:is|are)(?:n'?t| not) (?:needed|necessary)(?: any ?more)?)\b"
    r"|取消|算了|不用(?![^，。；]{0,4}(?:太|很))[^，。；]*了|不要[^，。；]*了|不需要[^，。；]*了?|别[^，。；]{1,12}了|去掉|删掉|不必",
    re.I,
)
_RETURNS = re.compile(
    r"\b(?:back to|return to|revert|after all|as (?:originally )?planned|original (?:plan|idea|one|choice|\w+)|as before|restore|reinstate)\b"
    r"|回到|恢复|还是按|还是回|按原来|原来的|最初的|还是原|之前的(?:计划|方案|那)|还是之前",
    re.I,
)
_SETTLES = re.compile(
    r"\b(?:(?:is|are|was|that'?s|it'?s|all|already|now|been|got (?:it|that|them)|been all) (?:all |already |now )?(?:done|booked|sorted|settled|taken care of|finished|completed?|fixed|solved|resolved|paid|sent|bought|reserved)|"
    r"(?:i|we)(?:'ve| have)? (?:already |just )?(?:booked|done|did|sorted|finished|fixed|paid|sent|bought|reserved|handled|took care of)\b|(?:it|that|this) works? (?:now|fine)|problem solved)\b"
    r"|已经[^，。；]{0,16}(?:了|好)|搞定|完成了|办好|订好了|做完了|解决了|弄好了|买好了|写好了",
    re.I,
)
_UNSETTLED = re.compile(
    r"\b(?:not|n'?t|never|once|when|until|after|if|before|has to be|to be|is it|are they)\b|没|还没|等|如果|之后", re.I
)
_BINDS = re.compile(
    r"\b(?:no more than|not more than|at most|at least|less than|fewer than|more than|under|below|above|within|maximum|max|minimum|min|up to|only|must(?:n'?t)?|"
    r"ha(?:ve|s) to be|need(?:s)? to be|should(?:n'?t)?|never|without|avoid|except|unless|prefer(?:s|red|ably|ence)?|budget|deadline|by|until|exactly|"
    r"allerg\w+|vegetarian|vegan|non-?stop|requires?|important)\b|^\W*no\b|\b(?:and|but) no\b|\bno \w+ (?:please|allowed)\b"
    rf"|(?:^\W*{_LEAD}|[,;:]\s*|\b(?:must|should|please|and|but|to|so|i|we)\s+)(?:always|keep)\b"
    rf"|(?:^\W*{_LEAD}|[,;:]\s*|\b(?:i|we|you|please|and|but|so|which|that)\s+)(?:do not|don'?t|won'?t|can'?t|cannot|not)\b(?! (?:know|remember|have|see|think|sure|understand|mind|working|work))"
    r"|\b(?:may|is|are|was|be) not\b|\b(?:is|are)n'?t (?:allowed|ok|okay|possible|an option)\b"
    r"|不要|不能|不可|不得|别(?!的|介意|担心|客气)|必须|一定|只(?!是)|仅|最多|最少|至少|至多|不超过|不少于|以内|之内|以下|以上|之前|之后|预算|避免|尽量|优先|最好|不吃|过敏|除了|除非|要求|限|保留|控制在|不想|不坐",
    re.I,
)
_LONE = re.compile(
    r"^\W*(?:on second thou?ghts?|actually|sorry|wait|no|ok(?:ay)?|well|hmm|oh|please|also|then|instead|scratch that|其实|对了|那|嗯|不好意思|另外|还有)\W*$",
    re.I,
)
_NO_MORE = re.compile(r"^\W*(?:就)?(?:不|别)[^，。；]{1,12}了")
_UNDOING = re.compile(r"^(?:cancel|call off|remove|取消|去掉|删掉)", re.I)
_VAGUE = re.compile(r"\b(?:this|that|it|them|these|those)\b|^\W*(?:please )?help me\W*$|这个|那个|它|这些|这样", re.I)
_PIECE = re.compile(
    r"[;；]\s*|[，,]\s*(?=(?:but|and|then|also|so|plus|instead|cancel|keep|actually|please|no|not|don'?t)\b)|\s+(?=but\s)|，"
    r"|\s+and\s+(?=(?:please |then |also )?(?:" + _VERBS + r")\b)",
    re.I,
)
_NAME = re.compile(r"(?<![\w.])[A-Z][\w'’-]*[A-Za-z](?:[ ](?:(?:de|la|of|van|von|del|da|di) )?[A-Z][\w'’-]*)*")
_DIGITS = re.compile(r"[€£¥₹$#]?[A-Za-z_]*\d[\w.,:/-]*\w|\d", re.ASCII)
_COMMON = frozenset(
    """i i'm i'd i'll i've it the a an my we our you your he she they this that these those what when where who how why which yes no hi hello hey
    please thanks thank ok okay sure great actually also and but so then now first next finally if can could would will do does is are was let lets
    instead well sorry wait oh alright just for from to in on at by with not never there here maybe perhaps after before once since as or
    """.split()
)


def clauses(text: str) -> list[Clause]:
    """What each stretch of a user's message does, in order.

    Args:
        text: the message.

    Returns:
        Clauses, each an exact slice; small talk gives none.
    """
    found: list[Clause] = []
    for span in sentences(text):
        for piece in _pieces(text, span):
            words = piece.of(text)
            if _IDLE.match(words):
                continue
            found.append(_clause(words))
    return found


def _clause(words: str) -> Clause:
    cancel = _CANCELS.search(words)
    cancels = cancel is not None
    asks = (
        (cancel is None or _UNDOING.match(cancel[0]) is not None)
        and _ASKS.search(words) is not None
        and _FORBIDS.search(words) is None
    )
    settles = _SETTLES.search(words) is not None and _UNSETTLED.search(words) is None
    return Clause(
        words,
        asks=asks and not settles,
        corrects=_CORRECTS.search(words) is not None,
        cancels=cancels,
        returns=_RETURNS.search(words) is not None and not cancels,
        settles=settles,
        binds=_BINDS.search(words) is not None or bool(facts_of(words)),
        vague=_VAGUE.search(words) is not None,
    )


def asks(words: str) -> bool:
    """Whether a clause asks for something to be done."""
    return _clause(words).asks


def _pieces(text: str, span: Span) -> list[Span]:
    """A sentence cut where another clause begins that does something of its own; what does nothing stays with the one before it."""
    cuts = [span.start]
    for found in _PIECE.finditer(text, span.start, span.end):
        if found.end() < span.end and found.start() > cuts[-1]:
            cuts.append(found.end())
    pieces: list[Span] = []
    for at, start in enumerate(cuts):
        end = cuts[at + 1] if at + 1 < len(cuts) else span.end
        piece = _trimmed(text, start, end)
        if piece.end <= piece.start:
            continue
        if pieces and (not _acts(piece.of(text)) or _leans(pieces[-1].of(text), piece.of(text))):
            pieces[-1] = Span(pieces[-1].start, piece.end)
        else:
            pieces.append(piece)
    return pieces


def _leans(before: str, words: str) -> bool:
    """Whether a piece is the other half of the one before: a cue that stands alone, or what a correction no longer means."""
    return _LONE.match(before) is not None or (
        _CORRECTS.search(before) is not None and _NO_MORE.match(words) is not None
    )


def _trimmed(text: str, start: int, end: int) -> Span:
    while end > start and text[end - 1] in " \t\r\n,;，；":
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    if text[start:end].endswith(" and"):
        end -= 4
    return Span(start, end)


def _acts(words: str) -> bool:
    return any(each.search(words) for each in (_ASKS, _FORBIDS, _CORRECTS, _CANCELS, _RETURNS, _SETTLES, _BINDS))


def facts_of(text: str) -> list[str]:
    """The numbers, dates, names and other values in a text that must stay exact, in order, each once.

    Args:
        text: words of a user.
    """
    return list(_facts(text) if len(text) <= _REMEMBERED else _facts.__wrapped__(text))


_REMEMBERED = 2_000


@lru_cache(maxsize=8_192)
def _facts(text: str) -> tuple[str, ...]:
    spans = [*entities(text)]
    spans += [Span(found.start(), found.end()) for found in _DIGITS.finditer(text)]
    for found in _NAME.finditer(text):
        words = found[0].split(" ")
        start = found.start()
        while words and words[0].lower().replace("’", "'") in _COMMON:
            start += len(words[0]) + 1
            words = words[1:]
        if words and ((start > 0 and not _opens(text, start)) or len(words) > 1):
            spans.append(Span(start, found.end()))
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if kept and span.start < kept[-1].end:
            kept[-1] = Span(kept[-1].start, max(span.end, kept[-1].end))
        else:
            kept.append(span)
    return tuple(dict.fromkeys(span.of(text) for span in kept))


def _opens(text: str, at: int) -> bool:
    """Whether a sentence begins there: a capital then says nothing."""
    before = text[:at].rstrip(" \"'“‘(*-•")
    return not before or before[-1] in ".!?:;\n。！？"
