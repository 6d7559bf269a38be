-- From version 1 to 2: a revision knows its intent.
ALTER TABLE event ADD COLUMN intent INTEGER NOT NULL DEFAULT 0;
CREATE INDEX event_intent ON event (session, seq) WHERE kind IN ('intent_set', 'voided');
