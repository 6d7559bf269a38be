"""What a message says of its own place in a conversation, read from cue words in English and Chinese. A cue says what a message may do;
whether it does is decided against the forest, elsewhere.

Source: explicit cues ("back to", "instead", "the first option", names) outrank similarity in Context-Agent's reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["Cues", "asks_for_all", "cues_of"]

_OPEN = r"(?:^|[.!?;:—–。！？；：]\s*|,\s*|，\s*)"
_LEAD = (
    r"(?:(?:and|but|so|then|also|now|ok(?:ay)?|yes|no|alright|all right|right|great|good|perfect|cool|thanks|thank you|fine|anyway|anyways|well|hmm|hey|hi|actually|sure|nice|"
    r"i think|i guess|please|before (?:that|we \w+|i forget)|for now|just|quick(?:ly)?|got it|makes sense|sounds good|that works|enough (?:of|about|on) [^,.;]{1,40})\b[,.!:;—–\s]*)*"
)
_LET = (
    r"(?:(?:let'?s|let us|let me|can we|could we|shall we|should we|may we|i(?:'d| would) (?:like|love) to|i(?:'d| would) rather|i want to|i need to|i wanna|we should|we need to|we can|i'm|we're|could you|can you|"
    r"please|want to|time to|ready to|happy to)\s+(?:please |just |now |quickly |maybe |also )?)?"
)

_RETURNS = re.compile(
    rf"{_OPEN}{_LEAD}{_LET}(?:(?:go|going|get|getting|come|coming|turn|turning|jump|jumping|circle|circling|switch|switching|head|heading|loop|swing|step|flip|move|moving|rewind|hop) (?:us |me |things )?back\b(?! and forth)"
    r"|back (?:to|on|at|with)\b|return(?:ing)? to\b|revisit(?:ing)?\b|resum(?:e|ing)\b|pick(?:ing)? (?:(?:back )?up|[^,.;]{1,40} (?:back )?up (?:again|where))|where were we|continu(?:e|ing) (?:with|on) (?:the|our|my) (?:first|earlier|previous|original|other|\w+ (?:topic|plan|thread|discussion|question))|"
    r"reopen(?:ing)?\b|follow(?:ing)?[- ]up on (?:the|our|my|that)\b|on (?:the|that|our) (?:earlier|previous|original|first|other)\b|(?:about|regarding|concerning|as for|re:?) (?:the|that|our|my) (?:earlier|previous|original|first|other)\b)"
    r"|\b(?:let'?s|can we|could we|shall we|i want to|i'd like to|should we|we can|we should) (?:now |please |just |quickly |maybe )?(?:go|get|come|turn|jump|circle|switch|head|loop|swing|step|move) back\b"
    r"|\b(?:earlier|previously|before|a while ago|at the (?:start|beginning)) (?:we|you|i) (?:talked|discussed|spoke|mentioned|said|asked|were|looked|planned|had|went|drafted|wrote|built)"
    r"|\b(?:we|you|i) (?:talked|discussed|spoke|mentioned|said|asked|were (?:discussing|talking|planning|looking)|looked|planned|drafted|started) [^.?!]{0,40}\b(?:earlier|before|previously|at the (?:start|beginning)|a while ago|first)\b"
    r"|\b(?:again|once more)\b[^.?!]{0,12}[:,]|\bthe (?:other|previous|earlier|original|former|initial) (?:topic|subject|branch|thread|plan|option|idea|version|approach|one|question|problem|project|discussion|conversation|scenario|route|design|variant|draft|proposal|path)\b"
    r"|\bstill on (?:the|my|our)\b|(?:回到|回头|说回|话说回来|回过头|返回|再说(?:回|说)|接着(?:刚才|之前|上面|前面)|继续(?:刚才|之前|上面|前面|聊|说)|刚才(?:的|那个|说的|聊的|提到)|之前(?:的|那个|说的|聊的|提到|讨论)|前面(?:的|那个|说的|提到)|原来(?:的|那个)|最初的|还是(?:回到|说)|切回|转回)",
    re.I,
)
_BEGINS = re.compile(
    rf"{_OPEN}{_LEAD}(?:(?:completely |totally |entirely |slightly |something )?(?:new|different|separate|unrelated|another|other) (?:topic|subject|question|matter|thing|task|project|issue|request|problem|theme|area|note)\b"
    r"|(?:on|in) (?:a|an|another) (?:completely |totally |entirely |whole )?(?:different|unrelated|separate|side|new|other)? ?(?:note|topic|subject|matter|front|news)\b|on to (?:a|an|another|something)\b|by the way\b|btw\b|switch(?:ing)? (?:gears|topics?|subjects?|context)\b|chang(?:e|ing) (?:of )?(?:the |my )?(?:subject|topics?|gears)\b|"
    r"(?:completely |totally |entirely |somewhat )?(?:unrelated|off[- ]topic)\b|separately\b|(?:aside|apart) from (?:that|this|all that)\b|(?:one more|another|one other|a last|last) thing\b|something (?:else|different|unrelated)\b|moving on\b|let'?s move on to\b|next (?:topic|subject|question|task|thing)\b|in other news\b|"
    r"(?:quick|side|random) (?:side )?(?:question|note|thing)\b|i (?:also |now )?have (?:a|an|another|one more) (?:different|separate|unrelated|other|new|completely)\b|(?:i|we)(?:'ve)? (?:also |now )?(?:have|got) (?:a|another|one more|a quick|some) questions? (?:about|on|regarding|concerning)\b|(?:leaving|putting|setting|parking) (?:that|this|the [^,.;]{1,30}) (?:aside|for (?:now|a moment|later))|(?:let'?s |i'll )?(?:park|pause|shelve|table|leave|drop|set aside) (?:that|this|the [^,.;]{1,30})\b(?: for| here|[,.;]| and)|"
    r"while (?:i|we) (?:wait|think)\b|meanwhile\b|different question\b|(?:now )?(?:for|to) something (?:completely |totally )?(?:different|else)|speaking of (?:something|which)\b|i(?:'ve| have) got another\b|can i (?:also )?ask (?:you )?(?:about )?something (?:else|different|unrelated))"
    rf"|{_OPEN}{_LEAD}(?:diff(?:erent)? (?:topic|thing|q|question|subject)\b|(?:completely |totally |something |a )?(?:different|unrelated|else|separate)\W*[:,.-]|(?:totally|completely|entirely) (?:different|unrelated|separate|other)\b)"
    r"|\b(?:unrelated|different) (?:question|topic|subject|matter|thing|note)\b|\bnothing to do with (?:this|that|the)\b|\bchang(?:e|ing) (?:the )?(?:subject|topic)\b|\bswitch(?:ing)? (?:topics?|gears|subjects?)\b"
    r"|(?:换个(?:话题|问题|事)|另一个(?:话题|问题|事)|另外(?:一个|一件|还有个|问|想问|还想|说)|顺便(?:问|说|想)|对了|新(?:话题|问题)|题外话|(?:说|聊|问)(?:点|个|件)?(?:别的|其他|另外)|别的(?:事|问题)|不相关|无关的|跟这个(?:没关系|无关)|还有(?:一件|个)(?:别的|其他)?事|先不(?:说|聊|谈|管)(?:这个|那个)?)",
    re.I,
)
_TURNS = re.compile(
    rf"{_OPEN}{_LEAD}(?:another|an?|one more|other|second|the other|different|alternative) (?:option|idea|possibility|approach|way|plan|scenario|version|thought|route)\b\s*(?:[:,-]|(?:would|could|might|is|was)\b)|{_OPEN}(?:option|plan|scenario|version|variant|approach) (?:b|c|d|2|3|two|three)\s*[:,-]"
    r"|\b(?:alternatively|what if|what would (?:\w+ ){0,4}(?:look like|change|happen|be) if|how would (?:\w+ ){0,6}(?:look|change|differ|work|be different) (?:if|with)|(?:as|for) (?:an?|the) alternative|an? (?:alternative|different|second|another|parallel|cheaper|other|rival|competing|separate) (?:\w+ )?(?:option|approach|version|variant|variation|idea|plan|route|scenario|take|draft|design|path|proposal|itinerary|solution|strategy|direction|outline|concept|opening|angle|ending|schedule|menu|layout|setup|architecture|implementation|branch)|"
    r"another (?:\w+ )?(?:option|approach|version|variant|variation|idea|plan|route|scenario|take|draft|design|path|proposal|itinerary|solution|strategy|direction|possibility|way|angle|branch|alternative)|plan b|option b|version (?:b|2|two)|scenario (?:b|2|two)|suppos(?:e|ing)|hypothetically|imagine (?:we|i|that|if)|start(?:ing)? over|from scratch|(?:an?|another|the same) (?:version|variant|take|draft|plan|scenario) (?:told|where|in which|with|without|for|that|using|from|by)|if (?:i|we|they|he|she) \w+ [^?.]{1,60} instead\b[^?]*\bwould|"
    r"(?:branch|fork) (?:off|out|from|this|it|here)|in parallel|side by side|(?:different|other) (?:way|direction|approach|route)\b|let'?s (?:say|assume|pretend)\b|say (?:we|i) (?:went|did|took|used|chose|had|were|moved|switched|dropped|kept)|pretend|"
    r"(?:explore|try|sketch|draft|consider|compare|evaluate|model|see|do|plan|design|look at|think through|work out|price) (?:it |this |that |the same \w+ |an? |the )?(?:\w+ )?(?:alternative|differently|the other way|as a comparison|for comparison)|for comparison|compare (?:that|this|it) (?:with|to|against)|versus (?:that|this))\b"
    r"|(?:如果(?:改|换|我们|我|不|选|用|是|去|把)|要是(?:改|换|我们|我|不|选|用|去|把)|假如|假设|换(?:一个|个|一种|种)(?:方案|思路|方法|方式|版本|路线|计划|做法|角度|设计|选择)|另(?:一个|一种|外一种|外一个|一套)(?:方案|思路|方法|方式|版本|路线|计划|做法|可能|选择|设计)|备选|方案(?:二|B|b|2)|第二(?:个|种)(?:方案|版本|思路)|对比一下|作为对比|重新(?:设计|规划|来|考虑|做))",
    re.I,
)
_FRONTS = re.compile(
    rf"^\W*{_LEAD}(?:as (?:for|to)|regarding|concerning|about|re|on|for|with|in|now for|now about) ((?:the|my|our|that|this|those|these) [^,.;:?!]{{2,40}}|(?!example|instance|that|this|case|addition|short|general|total|average|fact|particular|now|me|us|you|it)[^\W\d][^,.;:?!\s]+(?: [^,.;:?!\s]+){{0,2}})[,:.]"
    rf"|^\W*{_LEAD}((?:the |my |our |that |this |about )?[^,.;:?!]{{2,40}}?) again\s*[,.:;!?-]"
    rf"|^\W*(?:anyway|anyways|right|now|ok(?:ay)?|so)[,:]? ((?:the |my |our )?[^\W\d][\w'-]+(?: [\w'-]+){{0,2}})[.:]\s"
    rf"|^\W*{_LEAD}((?:the |my |our |for )?[^\W\d][\w'-]+(?: [\w'-]+)?)\s*:\s"
    rf"|^\W*{_LEAD}(?:the )?next ([^\W\d][\w'-]+) (?:lesson|question|exercise|step|part|task|chapter|session|item)\b"
    r"|^\W*(?:关于|至于|对于|说到|针对)([^，。；：！？]{1,16})[，。；：！？]|^\W*([^，。；：！？]{1,12}?)(?:那个|这个|那边|那份|的)(?:方案|版本|计划|话题|问题|项目|事|选择)?[，：]",
    re.I,
)
_SOFT = re.compile(
    r"\binstead\b|\brather than\b|\bin place of\b|\b(?:what|how) about\b|\beither way\b|\bor (?:maybe|perhaps)\b|\bswap\b|\breplace\b|换成|改成|改为|而不是|不如|改走|那.{0,10}呢",
    re.I,
)
_CORRECTS = re.compile(
    rf"^{_LEAD}(?:(?:oh |sorry,? |wait,? )*(?:actually|correction|i mean|make (?:it|that|them)|change (?:it|that|the|my|our)|update (?:it|that|the|my|our)|scratch that|let'?s make (?:it|that|the)|raise|lower|increase|reduce|set the|bump)\b)"
    r"|^(?:其实|更正|改一下|把.{1,12}(?:改|换|调)(?:成|为|到))",
    re.I,
)
_LEANS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|great|good|perfect|nice|cool|thanks|thank you|sure|right|hmm|got it|fine|well|hey|haha)\b\W*)*(?:and|also|then|but|or|so|plus|yes|yeah|yep|no|nope|that|those|these|this|it|its|they|them|which one|the (?:first|second|third|last|same|other) (?:one|two|three)?|how long|how much|how many|is (?:it|that|this|there)|are (?:they|those|these|there)|does (?:it|that|this)|do (?:they|those|these)|will (?:it|that|this|they)|would (?:it|that|this|they)|can (?:it|they|that|this)|should (?:it|they|that|this)|why|explain|elaborate|more|any|what else|anything else|go on|go ahead|continue|proceed)\b"
    r"|^\W*(?:那(?!个话题)|这个|这些|它|他们|还有|然后|好的?|嗯|行|可以|继续|为什么|再|多少|谢谢|具体|详细)",
    re.I,
)
_POINTS = re.compile(
    r"\b(?:it|its|that|those|these|this|they|them|their|there|the ones?|same|above|latter|former|both|either|so far)\b|这个|那个|这些|那些|它|它们|这样|上面|同样|那里|这里",
    re.I,
)
_OPENS = re.compile(
    rf"{_OPEN}{_LEAD}(?:(?:can|could|would|will) you (?:please |also |maybe )?(?:help|write|draft|explain|recommend|suggest|plan|find|give|show|teach|walk|tell|make|create|build|prepare|review|check|look)|(?:i|we)(?:'m| am|'re| are) (?:also )?(?:trying|looking|planning|working|thinking|having|writing|building|learning|getting|moving|organi[sz]ing|preparing|considering|starting|hosting|stuck)|(?:i|we)(?:'d| would)? (?:also )?(?:need|want|like|have|got|keep|just got|plan|started|bought|am|recently)\b|"
    r"(?:my|our) [a-z]+|how (?:do|can|should|would|could) (?:i|we|you|one)\b|what(?:'s| is| are) (?:a |an |the )?(?:good|best|difference|easiest|fastest|proper|right)|help (?:me|us)|please (?:help|write|draft|explain|plan|recommend|suggest)|(?:write|draft|plan|design|recommend|suggest|explain|teach|create|build|prepare|organi[sz]e|find) (?:me |us )?(?:a|an|some|my|our)\b|is there (?:a|any)|do you (?:know|have)|there'?s (?:a|an|this)|any (?:tips|advice|ideas|recommendations))"
    r"|(?:^|[，。！？；])(?:请?(?:帮我|帮忙|教我|给我)|我(?:想|要|需要|们|打算|准备|在|的|有|最近|正在|家)|怎么|如何|有没有|能不能|可以)",
    re.I,
)
_BRINGS = re.compile(
    rf"^\W*{_LEAD}(?:(?:my|our) [^\W\d]+|(?:i|we) (?:just |recently |finally )?(?:got|have|bought|adopted|inherited|received|want to (?:start|learn|buy|get|build|write|make|organi[sz]e|plan)|need to (?:write|buy|find|prepare|plan|fix|learn|give|organi[sz]e|set up)|am (?:planning|learning|building|writing|thinking|organi[sz]ing|preparing)|'m (?:planning|learning|building|writing|thinking|organi[sz]ing|preparing)|'re (?:planning|building|organi[sz]ing|thinking))\b)"
    r"|^\W*(?:我(?:的|家|妈|爸|们家|们公司|最近|想(?:学|买|写|做|办|开)|要(?:写|买|办|学)|打算|准备|正在))",
    re.I,
)
_ALSO = re.compile(
    rf"{_OPEN}{_LEAD}(?:(?:i|we)(?:'d|'m|'ve|'re| am| are| have| would)? also\b|(?:now|also|next),? (?:i|we|can|could|please|help|my|our)\b|(?:i|we)(?:'ve| have)? (?:got )?another\b|(?:i|we) (?:now )?need (?:some |your )?help (?:with|on)\b|(?:could|can|would) you (?:please )?(?:also |now )?help (?:me|us)\b|help me with\b)"
    r"|还(?:想|要|需要|有)|另外|再帮我",
    re.I,
)
_ORDINAL = re.compile(
    r"\b(?:the |my |our )?(first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th|last|latest|original|initial) (?:\w+ )?(option|plan|idea|version|approach|branch|alternative|route|variant|proposal|design|draft|scenario|path|topic|subject|thread|project|thing we|solution|itinerary|direction|concept|outline)\b"
    r"|\b(option|plan|version|approach|branch|scenario|route|variant|proposal|alternative|design|draft) (a|b|c|d|e|one|two|three|four|1|2|3|4|5)\b"
    r"|第([一二三四五六])(?:个|种|套|条|版)?(方案|计划|版本|思路|选择|路线|想法|话题|设计|主题)|(方案|计划|版本)([一二三四五ABCDabcd1-5])|(最初|最早|原来|一开始)的?(方案|计划|版本|思路|路线|话题|想法)",
    re.I,
)
_ALL = re.compile(
    r"\b(?:everything (?:we|i|you|so far|together|else|into|in one|up|above|discussed|decided|from)|final (?:plan|version|answer|summary|itinerary|list|overview|report|recommendation|checklist|proposal|document|design|decision|draft|spec|brief|schedule)|complete (?:plan|summary|overview|list|picture|itinerary|checklist|schedule)|full (?:plan|summary|overview|picture|recap|itinerary|list|checklist)|overall (?:plan|summary|picture)|(?:sum(?:mari[sz]e)?|wrap|recap|pull|put|bring|tie|collect|compile|combine|merge) (?:it |this |that |them |things |up |all |both |of )*(?:all|everything|together|up|both)\b|all (?:of )?(?:the |our |my )?(?:topics|decisions|plans|threads|branches|points|tasks|parts|projects|requirements|constraints|subjects)|whole (?:conversation|plan|picture|thing|discussion)|master (?:plan|list)|to-?do list for (?:all|everything)|recap of|summary of (?:all|everything|the whole|what we|our))\b"
    r"|(?:全部|所有(?:的)?(?:内容|话题|方案|计划|要求|事情|决定|信息)?|最终(?:方案|计划|版本|清单|总结|行程)|完整(?:的)?(?:方案|计划|总结|清单|行程)|汇总|总结一下(?!这)|整理(?:一下|成|出)|综合|合并)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Cues:
    """What a message says of its place.

    Attributes:
        returns: it goes back to something.
        begins: it begins something else.
        turns: it opens an alternative to something said.
        soft: it may do so, or merely refine.
        corrects: it changes a detail of what stands.
        leans: it begins by leaning on what was said just before.
        points: it holds a pronoun that needs something before it.
        opens: it has the form of a request that stands by itself.
        brings: it begins with something of the speaker's own.
        also: it asks for one thing more.
        every: it asks for all that was said.
        ordinal: the number of an option it names, from 1; -1 for the last; None for none.
        kind: what the ordinal counts.
        topic: what it names behind a cue ("back to the hotel": the hotel), else the whole message.
        fronted: what it names before all else ("for the lunch, …": the lunch); empty for nothing.
    """

    returns: bool
    begins: bool
    turns: bool
    soft: bool
    corrects: bool
    leans: bool
    points: bool
    opens: bool
    brings: bool
    also: bool
    every: bool
    ordinal: int | None
    kind: Literal["branch", "topic"]
    topic: str
    fronted: str = ""


_NUMBERS = {
    "first": 1, "1st": 1, "original": 1, "initial": 1, "a": 1, "one": 1, "1": 1, "一": 1, "最初": 1, "最早": 1, "原来": 1, "一开始": 1,
    "second": 2, "2nd": 2, "b": 2, "two": 2, "2": 2, "二": 2, "third": 3, "3rd": 3, "c": 3, "three": 3, "3": 3, "三": 3,
    "fourth": 4, "4th": 4, "d": 4, "four": 4, "4": 4, "四": 4, "fifth": 5, "5th": 5, "e": 5, "5": 5, "五": 5, "六": 6, "last": -1, "latest": -1,
}  # fmt: skip
_TOPICAL = frozenset({"topic", "subject", "thread", "project", "thing we", "话题", "主题"})


def cues_of(message: str) -> Cues:
    """The cues of a message.

    Args:
        message: the user's words; of a long one the first and the last few hundred characters are read.
    """
    text = message if len(message) <= _READ else f"{message[: _READ // 2]}\n{message[-_READ // 2 :]}"
    text = text.replace("’", "'").strip()
    ordinal, kind = _ordinal(text)
    found = _RETURNS.search(text)
    return Cues(
        returns=found is not None,
        begins=_BEGINS.search(text) is not None,
        turns=_TURNS.search(text) is not None,
        soft=_SOFT.search(text) is not None,
        corrects=_CORRECTS.search(text) is not None,
        leans=_LEANS.search(text) is not None,
        points=_POINTS.search(text) is not None,
        opens=_OPENS.search(text) is not None,
        brings=_BRINGS.search(text) is not None,
        also=_ALSO.search(text) is not None,
        every=asks_for_all(text),
        ordinal=ordinal,
        kind=kind,
        topic=_behind(text, found.end()) if found else text,
        fronted=next((part for part in front.groups() if part), "") if (front := _FRONTS.search(text)) else "",
    )


def asks_for_all(message: str) -> bool:
    """Whether a message asks for everything that was said, or for a final form of it."""
    return _ALL.search(message[:_READ].replace("’", "'")) is not None


_READ = 1_200
_CLAUSE = re.compile(r"[.!?;:,—–。！？；：，]")


def _behind(text: str, at: int) -> str:
    """The clause behind a place in a text; the whole text where nothing stands there."""
    end = _CLAUSE.search(text, at)
    clause = text[at : end.start() if end else len(text)].strip()
    return clause or text


def _ordinal(text: str) -> tuple[int | None, Literal["branch", "topic"]]:
    found = _ORDINAL.search(text)
    if found is None:
        return None, "branch"
    parts = [part.lower() for part in found.groups() if part]
    number = next((_NUMBERS[part] for part in parts if part in _NUMBERS), None)
    return number, "topic" if _TOPICAL & set(parts) else "branch"
