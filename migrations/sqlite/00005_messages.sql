-- +goose Up

-- Private messages. The id is the order; low_id and high_id are the two players. number counts through
-- the messages of the pair in the order in which they were committed. hidden is not 0 once the recipient
-- has deleted the message: 1 after reading, 2 without.
CREATE TABLE messages (
  id INTEGER NOT NULL,
  low_id INTEGER NOT NULL,
  high_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  hidden INTEGER NOT NULL,
  codec INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX messages_pair ON messages (low_id, high_id, id, recipient_id, hidden);
CREATE INDEX messages_inbox ON messages (recipient_id, hidden, id);

-- Two mirrored rows per pair of players: the newest message that the player sees, by which conversations
-- are listed, how many were not read, and the numbers of the last message sent and of the last one read.
CREATE TABLE conversations (
  player_id INTEGER NOT NULL,
  peer_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  unread INTEGER NOT NULL,
  sent_number INTEGER NOT NULL,
  read_number INTEGER NOT NULL,
  PRIMARY KEY (player_id, peer_id)
) WITHOUT ROWID;
CREATE INDEX conversations_last ON conversations (player_id, last_id);
CREATE INDEX conversations_unread ON conversations (player_id, unread);

-- When a player read a peer's messages up to a number.
CREATE TABLE read_marks (
  player_id INTEGER NOT NULL,
  peer_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (player_id, peer_id, number)
) WITHOUT ROWID;
CREATE INDEX read_marks_at ON read_marks (at_ms);

-- +goose Down

DROP TABLE read_marks;
DROP TABLE conversations;
DROP TABLE messages;
