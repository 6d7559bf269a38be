"""Pages made by hand, as the explorer sees them."""

from __future__ import annotations

import hashlib
from urllib.parse import urljoin

from browser_agent.observation import Link, Observation, PageSection, SearchBox

ORIGIN = "http://docs.test/"

Part = tuple[str, str]


def page(
    path: str,
    title: str,
    *sections: PageSection,
    links: dict[str, str] | None = None,
    search: bool = False,
    status: int = 200,
) -> Observation:
    """A page: its sections, and its links by text."""
    url = urljoin(ORIGIN, path)
    return Observation(
        url=url,
        title=title,
        status=status,
        fingerprint=hashlib.sha256(repr((url, sections)).encode()).hexdigest(),
        text=title,
        tokens=4,
        full="\n".join(section.text for section in sections),
        refs={},
        links=tuple(Link(ref=None, text=text, url=urljoin(url, to)) for text, to in (links or {}).items()),
        sections=sections,
        search=SearchBox(action=urljoin(ORIGIN, "search?area=all"), param="q") if search else None,
    )


def heading(title: str, *lines: str, level: int = 2, anchor: str = "") -> PageSection:
    """A section under a heading."""
    return PageSection(title=title, level=level, anchor=anchor, text="\n".join(lines))


def definition(name: str, signature: str, *lines: str) -> PageSection:
    """A defined name with its text."""
    return PageSection(title=signature, level=7, anchor=name, defined_name=name, text="\n".join(lines))


COPYING = page(
    "library/files.html",
    "files: work with files",
    heading("files: work with files", "New in version 2.4.", "Functions for whole files.", level=1),
    definition(
        "files.copy",
        "files.copy(source, target, *, follow=True)",
        "Copy the content of a file and return the target.",
        "If follow is false and source is a symbolic link, target becomes a link too.",
        "Raises SameFileError when source and target are the same file.",
    ),
    definition(
        "files.rmtree",
        "files.rmtree(path, retries=3)",
        "Delete a whole folder and everything in it.",
        "The path must not be a symbolic link.",
    ),
    definition("files.move", "files.move(source, target)", "Move a file or folder to another place."),
)
WATCHING = page(
    "library/watch.html",
    "watch: follow changes",
    heading("watch: follow changes", "Tells of files that change.", level=1),
    definition("watch.poll", "watch.poll(path, every=5)", "Look at a path every so many seconds."),
    heading("Copies and links", "A copy of a symbolic link counts as a change.", "files.copy is not watched."),
)
