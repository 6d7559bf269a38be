-- From version 2 to 3: a session knows the budget of its views.
ALTER TABLE session ADD COLUMN budget INTEGER NOT NULL DEFAULT 0;
