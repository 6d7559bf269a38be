-- From version 4 to 5: facts stand by the stretch of the path they were settled in, so that an append touches few pages.
ALTER TABLE fact RENAME TO fact_4;
CREATE TABLE fact (
  session INTEGER NOT NULL, era INTEGER NOT NULL, key INTEGER NOT NULL, lane INTEGER NOT NULL, depth INTEGER NOT NULL, record INTEGER NOT NULL,
  PRIMARY KEY (session, era, key, lane, depth, record)
) WITHOUT ROWID;
INSERT INTO fact SELECT session, depth / 16, key, lane, depth, record FROM fact_4;
DROP TABLE fact_4;
