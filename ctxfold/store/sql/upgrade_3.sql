-- From version 3 to 4: a revision knows its refactorings.
ALTER TABLE event ADD COLUMN guide INTEGER NOT NULL DEFAULT 0;
