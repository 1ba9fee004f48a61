-- +goose Up

-- Dense numbers, handed out in order.
CREATE TABLE sequences (
  name BLOB NOT NULL,
  next INTEGER NOT NULL,
  PRIMARY KEY (name)
) WITHOUT ROWID;

-- Simple and detail info of players. The id is dense.
CREATE TABLE players (
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  name_key BLOB NOT NULL,
  level INTEGER NOT NULL,
  avatar_url TEXT,
  bio TEXT NOT NULL,
  guild_id TEXT,
  role INTEGER NOT NULL,
  suspended INTEGER NOT NULL,
  joined_at DATETIME NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE UNIQUE INDEX players_name ON players (name_key);

-- The counters of players, apart from what is written by hand.
CREATE TABLE player_counts (
  player_id INTEGER NOT NULL,
  feeds INTEGER NOT NULL,
  fans INTEGER NOT NULL,
  following INTEGER NOT NULL,
  friends INTEGER NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (player_id)
);

-- How a player logs in with a password.
CREATE TABLE credentials (
  player_id INTEGER NOT NULL,
  password_hash TEXT NOT NULL,
  PRIMARY KEY (player_id)
);

-- How a player logs in with an outside identity.
CREATE TABLE identities (
  issuer BLOB NOT NULL,
  subject BLOB NOT NULL,
  player_id INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) WITHOUT ROWID;
CREATE INDEX identities_player ON identities (player_id);

-- Logins; the refresh tokens of one are a family.
CREATE TABLE sessions (
  id INTEGER NOT NULL,
  player_id INTEGER NOT NULL,
  expires_at DATETIME NOT NULL,
  ended_at DATETIME,
  PRIMARY KEY (id)
);
CREATE INDEX sessions_player ON sessions (player_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Refresh tokens by their SHA-256; a used one that comes back ends its session.
CREATE TABLE refresh_tokens (
  hash BLOB NOT NULL,
  session_id INTEGER NOT NULL,
  expires_at DATETIME NOT NULL,
  used_at DATETIME,
  PRIMARY KEY (hash)
) WITHOUT ROWID;
CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);

-- What every server must know of tokens that are still valid: ended sessions, changed roles.
CREATE TABLE access_changes (
  id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  player_id INTEGER NOT NULL,
  session_id INTEGER NOT NULL,
  role INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX access_changes_at ON access_changes (at_ms);

-- Two mirrored rows per pair of players; an edge that is not there is 0.
CREATE TABLE edges (
  player_id INTEGER NOT NULL,
  peer_id INTEGER NOT NULL,
  following_id INTEGER NOT NULL,
  fan_id INTEGER NOT NULL,
  friend_id INTEGER NOT NULL,
  PRIMARY KEY (player_id, peer_id)
) WITHOUT ROWID;
CREATE INDEX edges_following ON edges (player_id, following_id);
CREATE INDEX edges_fan ON edges (player_id, fan_id);
CREATE INDEX edges_friend ON edges (player_id, friend_id);

-- Heads of feeds. The id is the order.
CREATE TABLE feeds (
  id INTEGER NOT NULL,
  author_id INTEGER NOT NULL,
  visibility INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  excerpt TEXT NOT NULL,
  whole INTEGER NOT NULL,
  edited_at DATETIME,
  version INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX feeds_author ON feeds (author_id, id, visibility, deleted);

-- Texts that the excerpt does not hold whole, compressed as codec says.
CREATE TABLE feed_bodies (
  feed_id INTEGER NOT NULL,
  codec INTEGER NOT NULL,
  content BLOB NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (feed_id)
);

-- The counters of feeds, with what tells who may read them.
CREATE TABLE feed_counts (
  feed_id INTEGER NOT NULL,
  author_id INTEGER NOT NULL,
  visibility INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  likes INTEGER NOT NULL,
  comments INTEGER NOT NULL,
  views INTEGER NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (feed_id)
);

-- One row per feed and player for ever; liked is 0 after an unlike.
CREATE TABLE likes (
  feed_id INTEGER NOT NULL,
  player_id INTEGER NOT NULL,
  like_id INTEGER NOT NULL,
  liked INTEGER NOT NULL,
  PRIMARY KEY (feed_id, player_id)
) WITHOUT ROWID;
CREATE INDEX likes_feed ON likes (feed_id, liked, like_id);
CREATE INDEX likes_player ON likes (player_id, liked, like_id);

-- Events whose indexes are to be brought up to date.
CREATE TABLE outbox (
  id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  actor_id INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  object_id INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  owner INTEGER NOT NULL,
  lease_ms INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  next_ms INTEGER NOT NULL,
  place BLOB NOT NULL,
  last_error TEXT NOT NULL,
  done_ms INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX outbox_stage ON outbox (stage, next_ms);
CREATE INDEX outbox_actor ON outbox (actor_id, stage, id);
CREATE INDEX outbox_done ON outbox (stage, done_ms);

-- What came of requests that named a key.
CREATE TABLE idempotency (
  player_id INTEGER NOT NULL,
  operation BLOB NOT NULL,
  idempotency_key BLOB NOT NULL,
  input_hash BLOB NOT NULL,
  result_id INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (player_id, operation, idempotency_key)
) WITHOUT ROWID;
CREATE INDEX idempotency_created ON idempotency (created_ms);

-- Who may make identifiers of which node, until when; owner 0 means nobody. until_ms outlives its
-- owner: the next one's identifiers are later.
CREATE TABLE node_leases (
  node INTEGER NOT NULL,
  owner INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  PRIMARY KEY (node)
) WITHOUT ROWID;

-- The epoch of the Redis indexes; values of another are absent.
CREATE TABLE index_epochs (
  role BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  PRIMARY KEY (role)
) WITHOUT ROWID;

-- The ids that imported things had where they came from.
CREATE TABLE external_ids (
  kind INTEGER NOT NULL,
  external_id BLOB NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (kind, external_id)
) WITHOUT ROWID;
CREATE INDEX external_ids_id ON external_ids (kind, id);

-- How far an import came.
CREATE TABLE import_progress (
  source BLOB NOT NULL,
  phase TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (source)
) WITHOUT ROWID;

INSERT INTO sequences (name, next) VALUES ('player', 1);

INSERT INTO index_epochs (role, epoch) VALUES ('profile', 1), ('detail', 1), ('relation', 1), ('feed', 1), ('activity', 1);

INSERT INTO node_leases (node, owner, until_ms) VALUES
  (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0),
  (8, 0, 0), (9, 0, 0), (10, 0, 0), (11, 0, 0), (12, 0, 0), (13, 0, 0), (14, 0, 0), (15, 0, 0),
  (16, 0, 0), (17, 0, 0), (18, 0, 0), (19, 0, 0), (20, 0, 0), (21, 0, 0), (22, 0, 0), (23, 0, 0),
  (24, 0, 0), (25, 0, 0), (26, 0, 0), (27, 0, 0), (28, 0, 0), (29, 0, 0), (30, 0, 0), (31, 0, 0);

-- +goose Down

DROP TABLE import_progress;
DROP TABLE external_ids;
DROP TABLE index_epochs;
DROP TABLE node_leases;
DROP TABLE idempotency;
DROP TABLE outbox;
DROP TABLE likes;
DROP TABLE feed_counts;
DROP TABLE feed_bodies;
DROP TABLE feeds;
DROP TABLE edges;
DROP TABLE access_changes;
DROP TABLE refresh_tokens;
DROP TABLE sessions;
DROP TABLE identities;
DROP TABLE credentials;
DROP TABLE player_counts;
DROP TABLE players;
DROP TABLE sequences;
