-- +goose Up

-- Comments on feeds and answers to them. root_id is the comment at the head of an answer's thread, reply_to
-- the one that it answers; both are 0 for the head itself. A deleted comment stays as a tombstone without
-- content; listed says whether it stands in its list: a head does while it has answers.
CREATE TABLE comments (
  id INTEGER NOT NULL,
  feed_id INTEGER NOT NULL,
  author_id INTEGER NOT NULL,
  root_id INTEGER NOT NULL,
  reply_to INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  replies INTEGER NOT NULL,
  content TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX comments_thread ON comments (feed_id, root_id, listed, id);

-- How many of a feed's comments stand in its list; comments counts all that are not deleted.
ALTER TABLE feed_counts ADD COLUMN heads INTEGER NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE feed_counts DROP COLUMN heads;
DROP TABLE comments;
