-- From version 2 to 3: a revision knows its refactorings.
ALTER TABLE event ADD COLUMN guide INTEGER NOT NULL DEFAULT 0;
