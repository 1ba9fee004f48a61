-- +goose Up

-- Authors with so many fans that their feeds from first_feed_id on are not pushed to them: readers pull
-- them. Nobody leaves it.
CREATE TABLE pulled_authors (
  author_id INTEGER NOT NULL,
  first_feed_id INTEGER NOT NULL,
  PRIMARY KEY (author_id)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE pulled_authors;
