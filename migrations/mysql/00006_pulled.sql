-- +goose Up

-- Authors with so many fans that their feeds from first_feed_id on are not pushed to them: readers pull
-- them. Nobody leaves it.
CREATE TABLE pulled_authors (
  author_id BIGINT NOT NULL,
  first_feed_id BIGINT NOT NULL,
  PRIMARY KEY (author_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down

DROP TABLE pulled_authors;
