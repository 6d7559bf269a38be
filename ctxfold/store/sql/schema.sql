-- The store, version 8. The search is derived and can be rebuilt; everything else is the record. `sum` is the checksum of a row, but for what has one of its own.
-- `heads`, `plans`, `held` and `late` count rows of other tables, so that one that an index has lost is missed; `words` and `noted` are the nearest
-- steps back that hold words of the user, and a note.
-- The number of a session is never given twice: a handle that outlives its session must not come to stand on another.
CREATE TABLE session (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, created REAL NOT NULL, current INTEGER NOT NULL DEFAULT 0, budget INTEGER NOT NULL DEFAULT 0,
  heads INTEGER NOT NULL DEFAULT 0, plans INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL DEFAULT 0
);
-- A row for each removal whose bytes a scrub has yet to take out of the file.
CREATE TABLE unscrubbed (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TABLE entry (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, packed INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE lane (session INTEGER NOT NULL, id INTEGER NOT NULL, parent INTEGER NOT NULL, fork INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE TABLE step (
  session INTEGER NOT NULL, n INTEGER NOT NULL, parent INTEGER NOT NULL, lane INTEGER NOT NULL, depth INTEGER NOT NULL, open INTEGER NOT NULL,
  tokens INTEGER NOT NULL, raw INTEGER NOT NULL, upto INTEGER NOT NULL, raw_upto INTEGER NOT NULL, time REAL NOT NULL,
  held INTEGER NOT NULL DEFAULT 0, late INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0, noted INTEGER NOT NULL DEFAULT 0,
  sum INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session, n)
) WITHOUT ROWID;
CREATE UNIQUE INDEX step_place ON step (session, lane, depth);
CREATE TABLE record (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, step INTEGER NOT NULL, k INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, origin TEXT NOT NULL,
  call_id TEXT, entry INTEGER NOT NULL REFERENCES entry (id), shown INTEGER, form BLOB NOT NULL, idempotency TEXT,
  form_sum INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL
);
CREATE UNIQUE INDEX record_place ON record (session, step, k);
CREATE INDEX record_late ON record (session, at) WHERE at <> step;
CREATE UNIQUE INDEX record_once ON record (session, step, idempotency) WHERE idempotency IS NOT NULL;
CREATE TABLE head (session INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, topic INTEGER NOT NULL, seq INTEGER NOT NULL, created REAL NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE UNIQUE INDEX head_name ON head (session, name);
CREATE TABLE topic (session INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE TABLE event (
  session INTEGER NOT NULL, seq INTEGER NOT NULL, head INTEGER NOT NULL, prev INTEGER NOT NULL, kind TEXT NOT NULL, decider TEXT NOT NULL, cause TEXT NOT NULL,
  json TEXT NOT NULL, revision BLOB NOT NULL, tip INTEGER NOT NULL, cover INTEGER NOT NULL, notes INTEGER NOT NULL, decision INTEGER NOT NULL,
  undone INTEGER NOT NULL, time REAL NOT NULL, intent INTEGER NOT NULL DEFAULT 0, guide INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL, PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE INDEX event_intent ON event (session, seq) WHERE kind IN ('intent_set', 'voided');
CREATE INDEX event_redacted ON event (session, seq) WHERE kind = 'redacted';
CREATE TABLE tile (session INTEGER NOT NULL, id INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, tokens INTEGER NOT NULL, body BLOB NOT NULL,
  body_sum INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE TABLE cell (session INTEGER NOT NULL, id INTEGER NOT NULL, prev INTEGER NOT NULL, tile INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE TABLE note (session INTEGER NOT NULL, id INTEGER NOT NULL, prev INTEGER NOT NULL, slot TEXT NOT NULL, text BLOB NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE VIRTUAL TABLE fts USING fts5 (text, content = '', detail = none, tokenize = 'porter unicode61 remove_diacritics 2');
