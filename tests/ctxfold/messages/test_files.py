"""What hosts wrote of their own conversations is recorded once, whole and in order."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.messages.files import Transcript
from ctxfold.messages.hosts import HOSTS, find_latest, name_conversation
from ctxfold.text.secrets import hide_keys
from tests.ctxfold.text.hostile import within

RECORDED = Path(__file__).parent / "recorded"
FILES = {name: next(RECORDED.glob(f"{name}.*")) for name in HOSTS}
ROWS = "row-0-1 value\nrow-0-2 value\nrow-0-3 value\nrow-0-4 value\nrow-0-5 value"


def import_from(session: Session, host: str, path: Path) -> int:
    return len(session.record(Transcript(HOSTS[host], path).read_new()))


def kinds(session: Session, step: int) -> list[str]:
    """The kinds of a step's records, as the headers of a recalled step say them."""
    return re.findall(rf"^## s{step}\.\d+ (\w+)", session.recall(f"s{step}").text, re.MULTILINE)


def record_texts(session: Session) -> list[str]:
    return [
        session.recall(f"s{n}.{k}").text
        for n in range(1, session.tip + 1)
        for k in range(1, len(kinds(session, n)) + 1)
    ]


@pytest.mark.parametrize("host", HOSTS)
def test_words_calls_and_results_become_steps(host: str) -> None:
    with Session.open("host", store=":memory:") as session:
        import_from(session, host, FILES[host])
        assert "never touch rows above 400" in session.recall("s1.1").text
        assert kinds(session, 1) == ["user", "assistant", "call", "result"]
        assert session.recall("s1.4").text.rstrip().endswith(ROWS)
        assert session.recall(f"s{session.tip}").text.endswith("All rows were listed.")


@pytest.mark.parametrize("host", HOSTS)
def test_reading_again_records_nothing(host: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    with Session.open("host", store=store) as session:
        new = import_from(session, host, FILES[host])
    with Session.open("host", store=store) as again:
        assert (new > 0, import_from(again, host, FILES[host])) == (True, 0)


@pytest.mark.parametrize("part", [slice(None), slice(4, None)], ids=["whole", "part"])
@pytest.mark.parametrize("host", HOSTS)
def test_what_was_redacted_with_its_id_is_known_again(host: str, part: slice, tmp_path: Path) -> None:
    with Session.open("host", store=str(tmp_path / "store.db")) as session:
        import_from(session, host, FILES[host])
        before = record_texts(session)
        for call in set(
            re.findall(r"^## s\d+\.\d+ call (\S+)", session.recall(f"s1-s{session.tip}").text, re.MULTILINE)
        ):
            session.redact(re.escape(call[part]))
        session.redact("row-0-[24]")
        assert import_from(session, host, FILES[host]) == 0
        told = record_texts(session)
        assert len(told) == len(before)
        assert not any("row-0-2" in text for text in told)


def test_the_result_of_a_call_that_was_redacted_joins_it_under_the_redacted_id(tmp_path: Path) -> None:
    lines = FILES["claude-code"].read_text().splitlines(keepends=True)
    upto = next(at for at, line in enumerate(lines) if '"tool_result"' in line)
    path = tmp_path / FILES["claude-code"].name
    path.write_text("".join(lines[:upto]))
    with Session.open("host", store=str(tmp_path / "store.db")) as session:
        import_from(session, "claude-code", path)
        (call,) = set(re.findall(r"^## s\d+\.\d+ call (\S+)", session.recall(f"s1-s{session.tip}").text, re.MULTILINE))
        session.redact(re.escape(call))
        path.write_text("".join(lines))
        assert import_from(session, "claude-code", path) > 0
        assert import_from(session, "claude-code", path) == 0
        assert kinds(session, 1) == ["user", "assistant", "call", "result"]
        assert call not in "".join(session.recall(f"s{n}").text for n in range(1, session.tip + 1))
        assert session.recall("s1.4").text.rstrip().endswith(ROWS)


@pytest.mark.parametrize("host", [name for name, host in HOSTS.items() if host.lines])
def test_a_file_that_grows_byte_by_byte_gives_the_same_log(host: str, tmp_path: Path) -> None:
    """Half lines wait, results come after their calls were recorded, and the file is once put in place of another."""
    raw, grown = FILES[host].read_bytes(), tmp_path / "grown.jsonl"
    with Session.open("whole", store=":memory:") as whole, Session.open("grown", store=":memory:") as session:
        import_from(whole, host, FILES[host])
        transcript = Transcript(HOSTS[host], grown)
        for end in [*range(0, len(raw), 701), len(raw)]:
            grown.write_bytes(raw[:end])
            session.record(transcript.read_new())
        shutil.move(shutil.copy(grown, tmp_path / "other"), grown)
        assert session.record(transcript.read_new()) == []
        said = [sorted(record_texts(each)) for each in (whole, session)]
        assert said[0] == said[1]


def test_a_compaction_is_marked_and_what_was_before_it_stays() -> None:
    with Session.open("host", store=":memory:") as session:
        import_from(session, "pi", FILES["pi"])
        assert session.recall("s2.1").text == "Rows were listed."
        assert ROWS in session.view().text


def test_what_is_no_part_of_the_conversation_is_counted_and_left(tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_bytes(b'not json\n{"type": "from-tomorrow"}\n[1]\n\xff\xfe\n' + FILES["claude-code"].read_bytes())
    transcript = Transcript(HOSTS["claude-code"], odd)
    with Session.open("host", store=":memory:") as session:
        assert len(session.record(transcript.read_new())) > 5
    assert transcript.unread >= 4


KEYS = {
    "anthropic": "sk-ant-api03-" + "a1B2" * 10,
    "github": "ghp_" + "a1B2" * 9,
    "aws": "AKIA" + "ABCD" * 4,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123456",
    "private": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_known_forms_never_reach_the_store(name: str, tmp_path: Path) -> None:
    spelled = json.dumps(f"export\n{KEYS[name]}\t{KEYS[name]}\u2192 # done")
    path, store = tmp_path / "t.jsonl", tmp_path / "store.db"
    path.write_text(f'{{"type":"user","uuid":"u1","message":{{"role":"user","content":{spelled}}}}}\n')
    with Session.open("host", store=str(store)) as session:
        import_from(session, "claude-code", path)
        assert session.recall("s1.1").text.endswith("]\u2192 # done")
    secret = KEYS[name].split("\n")[-1][-12:].encode()
    assert not any(secret in file.read_bytes() for file in tmp_path.glob("store.db*"))


@pytest.mark.parametrize(
    "text", ["-----BEGIN RSA PRIVATE KEY-----" * 3_000, "-eyJ" * 20_000, "sk-" * 30_000, "xox-" * 30_000]
)
def test_a_text_of_beginnings_alone_is_searched_in_time(text: str) -> None:
    within(3, lambda: hide_keys(text))


def test_the_latest_transcript_is_found_below_the_users_home(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-user"
    folder.mkdir(parents=True)
    (folder / "old.jsonl").write_text("")
    with pytest.raises(InputError, match="CODEX_HOME"):
        find_latest(HOSTS["codex"], tmp_path, None)
    assert find_latest(HOSTS["claude-code"], tmp_path, None).name == "old.jsonl"
    assert find_latest(HOSTS["claude-code"], Path("/nowhere"), str(tmp_path / ".claude")).name == "old.jsonl"


def test_a_file_whose_name_tells_part_of_the_id_has_the_same_session() -> None:
    named = "0cb441cc-155f-4edf-a412-71d0d2a0d39d"
    assert name_conversation("gemini", named) == name_conversation("gemini", "session-2026-11-23T03-46-0cb441cc")
    assert name_conversation("codex", named) == name_conversation("codex", f"rollout-2026-11-23-{named}")
