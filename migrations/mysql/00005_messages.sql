-- +goose Up

-- Private messages. The id is the order; low_id and high_id are the two players. number counts through
-- the messages of the pair in the order in which they were committed. hidden is not 0 once the recipient
-- has deleted the message: 1 after reading, 2 without.
CREATE TABLE messages (
  id BIGINT NOT NULL,
  low_id BIGINT NOT NULL,
  high_id BIGINT NOT NULL,
  sender_id BIGINT NOT NULL,
  recipient_id BIGINT NOT NULL,
  number BIGINT NOT NULL,
  hidden TINYINT NOT NULL,
  codec TINYINT NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (id),
  KEY messages_pair (low_id, high_id, id, recipient_id, hidden),
  KEY messages_inbox (recipient_id, hidden, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Two mirrored rows per pair of players: the newest message that the player sees, by which conversations
-- are listed, how many were not read, and the numbers of the last message sent and of the last one read.
CREATE TABLE conversations (
  player_id BIGINT NOT NULL,
  peer_id BIGINT NOT NULL,
  last_id BIGINT NOT NULL,
  unread INT NOT NULL,
  sent_number BIGINT NOT NULL,
  read_number BIGINT NOT NULL,
  PRIMARY KEY (player_id, peer_id),
  KEY conversations_last (player_id, last_id),
  KEY conversations_unread (player_id, unread)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- When a player read a peer's messages up to a number.
CREATE TABLE read_marks (
  player_id BIGINT NOT NULL,
  peer_id BIGINT NOT NULL,
  number BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  PRIMARY KEY (player_id, peer_id, number),
  KEY read_marks_at (at_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down

DROP TABLE read_marks;
DROP TABLE conversations;
DROP TABLE messages;
