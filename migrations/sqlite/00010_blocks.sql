-- +goose Up

-- Who blocks and who mutes whom, on the mirrored rows of a pair, by the id of the block or mute. tied says that the
-- player blocks, is blocked by, or mutes the peer, so that these few are found by one index entry a row.
ALTER TABLE edges ADD COLUMN block_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE edges ADD COLUMN blocked_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE edges ADD COLUMN mute_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE edges ADD COLUMN muted_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE edges ADD COLUMN tied INTEGER NOT NULL DEFAULT 0;
CREATE INDEX edges_tied ON edges (player_id, tied);

-- Feeds that moderators hid: a state like being deleted, that ends.
ALTER TABLE feeds ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
DROP INDEX feeds_author;
CREATE INDEX feeds_author ON feeds (author_id, id, visibility, deleted, hidden);
ALTER TABLE feed_counts ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;

-- What players reported to moderators. closed_id is 0 while a report is open and its own id afterwards, so that
-- there is at most one open report of a thing by a player.
CREATE TABLE reports (
  id INTEGER NOT NULL,
  reporter_id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  target_id INTEGER NOT NULL,
  reason TEXT NOT NULL,
  closed_id INTEGER NOT NULL,
  closed_by INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX reports_open ON reports (reporter_id, kind, target_id, closed_id);

-- +goose Down

DROP TABLE reports;
ALTER TABLE feed_counts DROP COLUMN hidden;
DROP INDEX feeds_author;
CREATE INDEX feeds_author ON feeds (author_id, id, visibility, deleted);
ALTER TABLE feeds DROP COLUMN hidden;

DROP INDEX edges_tied;
ALTER TABLE edges DROP COLUMN tied;
ALTER TABLE edges DROP COLUMN muted_id;
ALTER TABLE edges DROP COLUMN mute_id;
ALTER TABLE edges DROP COLUMN blocked_id;
ALTER TABLE edges DROP COLUMN block_id;
