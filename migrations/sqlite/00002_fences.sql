-- +goose Up

-- When each fence in Redis was raised last, by which history of its server's data; until_ms is how long
-- a server that found it behind has to make that good.
CREATE TABLE fences (
  role BLOB NOT NULL,
  number INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  server BLOB NOT NULL,
  until_ms INTEGER NOT NULL,
  PRIMARY KEY (role, number)
) WITHOUT ROWID;

-- An event that was done and whose stages run again, for the indexes alone.
ALTER TABLE outbox ADD COLUMN replay INTEGER NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE outbox DROP COLUMN replay;
DROP TABLE fences;
