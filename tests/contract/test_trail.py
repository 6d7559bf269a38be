"""What calls changed is known of every tile: each file once, with the first step that changed it and the newest, through folds, summaries and reopening."""

from ctxfold import Session
from ctxfold.workspace import Tile
from tests.support.sessions import add_call

FOLDER = "/srv/shop/src"


def edited(session: Session, name: str, n: int) -> None:
    """Record that a file was read and edited."""
    path = f"{FOLDER}/{name}"
    add_call(session, "read", {"path": path}, f"row {n}\nrow {n + 1}\n" * 30, "Read it.")
    change = {"path": path, "old": f"row {n}\nrow {n + 1}", "new": f"row {n}\nrow {n * 7919}"}
    add_call(session, "edit", change, "done", "Mend it.")


def test_a_consolidated_tile_knows_each_file_once_with_the_steps_that_changed_it(session: Session) -> None:
    session.record_turn(user="Mend the shop.")
    for n in range(24):
        edited(session, f"part{n % 3}.py", n)
        session.consolidate(2_000)
    tile = session.workspace.blocks[0]
    assert isinstance(tile, Tile)
    assert {each.name for each in tile.changed} == {f"{FOLDER}/part{n}.py" for n in range(3)}
    assert all(len(each.steps) == 4 and max(each.steps) <= tile.last for each in tile.changed)
    steps = [each.steps[-1] for each in tile.changed]
    assert steps == sorted(steps)


def test_a_patch_names_the_files_it_changes(session: Session) -> None:
    session.record_turn(user="Mend the shop.")
    for n in range(3):
        patch = f"*** Begin Patch\n*** Update File: src/part{n}.py\n@@\n-a\n+b\n*** End Patch"
        diff = f"--- a/src/old{n}.py\n+++ b/src/new{n}.py\n@@ -1 +1 @@\n-a\n+b\n"
        calls = [{"name": "shell", "args": {"input": patch}}, {"name": "shell", "args": {"input": diff}}]
        session.record_step("Patch it.", calls, [{"text": "ok " * 300}, {"text": "ok " * 300}])
    session.record_reply("Done.")
    tile = session.fold("All three parts were mended.", 1, 3)
    names = {f"src/part{n}.py" for n in range(3)} | {f"src/new{n}.py" for n in range(3)}
    assert {each.name for each in tile.changed} == names
