"""A site's own index ranks its pages for a question, with words that mean the same and irregular forms."""

from urllib.parse import urlencode

import pytest

from browser_agent.deciders.explorer.catalogue import catalogue
from browser_agent.deciders.explorer.frontier import first, wide
from browser_agent.deciders.explorer.question import parse
from browser_agent.deciders.explorer.thesaurus import others, root
from browser_agent.observation import IndexedPage, Listed, SiteIndex
from tests.browser_agent.explorer.pages import COPYING, ORIGIN, heading, page
from tests.browser_agent.explorer.test_explorer import explore

PATHS = ("library/tempfiles.html", "library/files.html", "library/watch.html", "whatsnew.html")
PAGES = tuple(
    IndexedPage(url=f"{ORIGIN}{path}", title=path, size=size)
    for path, size in zip(PATHS, (90, 100, 80, 4000), strict=True)
)


def listed(**words: tuple[int, ...]) -> SiteIndex:
    """An index with these pages under each word."""
    return SiteIndex(pages=PAGES, words=tuple(Listed(word=word, pages=pages) for word, pages in words.items()))


def test_a_page_with_more_and_rarer_words_comes_first():
    ranked = catalogue(parse("How do I copy a symbolic link?"), listed(copy=(0, 1, 3), symbolic=(1, 3), link=(1,)))
    assert ranked.pages[0].url.endswith("files.html")
    assert ranked.marks[ranked.pages[0].url] == 1
    assert set(ranked.marks) == {PAGES[n].url for n in (0, 1, 3)}


def test_a_large_page_is_held_to_more():
    ranked = catalogue(parse("symbolic link"), listed(symbolic=(1, 3), link=(1, 3)))
    assert [one.url for one in ranked.pages] == [PAGES[1].url, PAGES[3].url]


def test_a_word_in_a_title_tells_more():
    index = SiteIndex(pages=PAGES, words=(Listed(word="watch", pages=(0, 2), titled=(2,)),))
    assert catalogue(parse("watch"), index).pages[0] is PAGES[2]


def test_a_word_that_means_the_same_tells_less_than_the_word():
    ranked = catalogue(parse("delete"), listed(delete=(0,), remove=(1,)))
    assert [one.url for one in ranked.pages] == [PAGES[0].url, PAGES[1].url]


def test_a_word_that_stands_nowhere_is_absent():
    ranked = catalogue(parse("copy zebra"), listed(copy=(1,), zebra=()))
    assert ranked.absent == (False, True)
    assert ranked.rarity[1] > ranked.rarity[0]
    assert not catalogue(parse("zebra"), SiteIndex(pages=(), words=())).pages


@pytest.mark.parametrize(
    ("form", "word"), [("wrote", "write"), ("woken", "wake"), ("indices", "index"), ("copies", "copy")]
)
def test_the_forms_of_a_word_meet_in_one_root(form: str, word: str):
    assert root(form) == root(word)


def test_a_wide_search_holds_each_word_once_with_those_that_mean_the_same():
    words = wide(parse("Who wrote the folder?")).split()
    assert {"wrote", "write", "written", "folder", "directory"} <= set(words)
    assert len(words) == len(set(words))
    assert "written" in others(root("write"))


@pytest.mark.anyio
async def test_the_explorer_reads_the_pages_that_the_index_ranks_best():
    task = "Which exception is raised when source and target are the same file?"
    index = listed(source=(1,), target=(1,), file=(0, 1), raised=(1,))
    results = page("search", "Results", heading("Results", "None."), links={"Home": ""}, search=True)
    results = results.model_copy(update={"index": index})
    queries = (*first(parse(task)), wide(parse(task)))
    site = {"": page("", "Home", search=True), "library/files.html": COPYING.model_copy(update={"search": None})}
    for query in queries:
        path = f"search?{urlencode({'area': 'all', 'q': query})}"
        site[path] = results.model_copy(update={"url": f"{ORIGIN}{path}"})
    _, opened, _ = await explore(task, site)
    assert sum(path.startswith("search?") for path in opened) == 2
    assert opened[3] == "library/files.html"
