-- From version 5 to 6: the number of a session is never given twice, its newest redaction is found at once, and a scrub that is due is remembered.
ALTER TABLE session RENAME TO session_5;
CREATE TABLE session (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, created REAL NOT NULL, current INTEGER NOT NULL DEFAULT 0, budget INTEGER NOT NULL DEFAULT 0
);
INSERT INTO session (id, name, created, current, budget) SELECT id, name, created, current, budget FROM session_5;
DROP TABLE session_5;
CREATE TABLE unscrubbed (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE INDEX event_redacted ON event (session, seq) WHERE kind = 'redacted';
