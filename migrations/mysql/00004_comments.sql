-- +goose Up

-- Comments on feeds and answers to them. root_id is the comment at the head of an answer's thread, reply_to
-- the one that it answers; both are 0 for the head itself. A deleted comment stays as a tombstone without
-- content; listed says whether it stands in its list: a head does while it has answers.
CREATE TABLE comments (
  id BIGINT NOT NULL,
  feed_id BIGINT NOT NULL,
  author_id BIGINT NOT NULL,
  root_id BIGINT NOT NULL,
  reply_to BIGINT NOT NULL,
  deleted TINYINT NOT NULL,
  listed TINYINT NOT NULL,
  replies INT NOT NULL,
  content VARCHAR(2000) NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY comments_thread (feed_id, root_id, listed, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How many of a feed's comments stand in its list; comments counts all that are not deleted.
ALTER TABLE feed_counts ADD COLUMN heads INT NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE feed_counts DROP COLUMN heads;
DROP TABLE comments;
