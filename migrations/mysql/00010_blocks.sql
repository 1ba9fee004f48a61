-- +goose Up

-- Who blocks and who mutes whom, on the mirrored rows of a pair, by the id of the block or mute. tied says that the
-- player blocks, is blocked by, or mutes the peer, so that these few are found by one index entry a row.
ALTER TABLE edges
  ADD COLUMN block_id BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN blocked_id BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN mute_id BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN muted_id BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN tied TINYINT NOT NULL DEFAULT 0,
  ADD KEY edges_tied (player_id, tied);

-- Feeds that moderators hid: a state like being deleted, that ends.
ALTER TABLE feeds
  ADD COLUMN hidden TINYINT NOT NULL DEFAULT 0,
  DROP KEY feeds_author,
  ADD KEY feeds_author (author_id, id, visibility, deleted, hidden);
ALTER TABLE feed_counts ADD COLUMN hidden TINYINT NOT NULL DEFAULT 0;

-- What players reported to moderators. closed_id is 0 while a report is open and its own id afterwards, so that
-- there is at most one open report of a thing by a player.
CREATE TABLE reports (
  id BIGINT NOT NULL,
  reporter_id BIGINT NOT NULL,
  kind TINYINT NOT NULL,
  target_id BIGINT NOT NULL,
  reason VARCHAR(1000) NOT NULL,
  closed_id BIGINT NOT NULL,
  closed_by BIGINT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY reports_open (reporter_id, kind, target_id, closed_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down

DROP TABLE reports;
ALTER TABLE feed_counts DROP COLUMN hidden;
ALTER TABLE feeds
  DROP KEY feeds_author,
  ADD KEY feeds_author (author_id, id, visibility, deleted),
  DROP COLUMN hidden;

ALTER TABLE edges
  DROP KEY edges_tied,
  DROP COLUMN tied,
  DROP COLUMN muted_id,
  DROP COLUMN mute_id,
  DROP COLUMN blocked_id,
  DROP COLUMN block_id;
