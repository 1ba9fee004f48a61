-- +goose Up

-- When each fence in Redis was raised last, by which history of its server's data; until_ms is how long
-- a server that found it behind has to make that good.
CREATE TABLE fences (
  role VARBINARY(16) NOT NULL,
  number INT NOT NULL,
  at_ms BIGINT NOT NULL,
  server VARBINARY(128) NOT NULL,
  until_ms BIGINT NOT NULL,
  PRIMARY KEY (role, number)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- An event that was done and whose stages run again, for the indexes alone.
ALTER TABLE outbox ADD COLUMN replay TINYINT NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE outbox DROP COLUMN replay;
DROP TABLE fences;
