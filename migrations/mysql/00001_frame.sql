-- +goose Up

-- Dense numbers, handed out in order.
CREATE TABLE sequences (
  name VARBINARY(32) NOT NULL,
  next BIGINT NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Simple and detail info of players. The id is dense.
CREATE TABLE players (
  id BIGINT NOT NULL,
  name VARCHAR(255) NOT NULL,
  name_key VARBINARY(1020) NOT NULL,
  level INT NOT NULL,
  avatar_url VARCHAR(512),
  bio VARCHAR(1000) NOT NULL,
  guild_id VARCHAR(64),
  role TINYINT NOT NULL,
  suspended TINYINT NOT NULL,
  joined_at DATETIME(3) NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY players_name (name_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The counters of players, apart from what is written by hand.
CREATE TABLE player_counts (
  player_id BIGINT NOT NULL,
  feeds INT NOT NULL,
  fans INT NOT NULL,
  following INT NOT NULL,
  friends INT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (player_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How a player logs in with a password.
CREATE TABLE credentials (
  player_id BIGINT NOT NULL,
  password_hash VARCHAR(255) NOT NULL,
  PRIMARY KEY (player_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How a player logs in with an outside identity.
CREATE TABLE identities (
  issuer VARBINARY(255) NOT NULL,
  subject VARBINARY(255) NOT NULL,
  player_id BIGINT NOT NULL,
  PRIMARY KEY (issuer, subject),
  KEY identities_player (player_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Logins; the refresh tokens of one are a family.
CREATE TABLE sessions (
  id BIGINT NOT NULL,
  player_id BIGINT NOT NULL,
  expires_at DATETIME(3) NOT NULL,
  ended_at DATETIME(3),
  PRIMARY KEY (id),
  KEY sessions_player (player_id),
  KEY sessions_expiry (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Refresh tokens by their SHA-256; a used one that comes back ends its session.
CREATE TABLE refresh_tokens (
  hash VARBINARY(32) NOT NULL,
  session_id BIGINT NOT NULL,
  expires_at DATETIME(3) NOT NULL,
  used_at DATETIME(3),
  PRIMARY KEY (hash),
  KEY refresh_tokens_session (session_id),
  KEY refresh_tokens_expiry (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What every server must know of tokens that are still valid: ended sessions, changed roles.
CREATE TABLE access_changes (
  id BIGINT NOT NULL,
  kind TINYINT NOT NULL,
  player_id BIGINT NOT NULL,
  session_id BIGINT NOT NULL,
  role TINYINT NOT NULL,
  at_ms BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY access_changes_at (at_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Two mirrored rows per pair of players; an edge that is not there is 0.
CREATE TABLE edges (
  player_id BIGINT NOT NULL,
  peer_id BIGINT NOT NULL,
  following_id BIGINT NOT NULL,
  fan_id BIGINT NOT NULL,
  friend_id BIGINT NOT NULL,
  PRIMARY KEY (player_id, peer_id),
  KEY edges_following (player_id, following_id),
  KEY edges_fan (player_id, fan_id),
  KEY edges_friend (player_id, friend_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Heads of feeds. The id is the order.
CREATE TABLE feeds (
  id BIGINT NOT NULL,
  author_id BIGINT NOT NULL,
  visibility TINYINT NOT NULL,
  deleted TINYINT NOT NULL,
  excerpt VARCHAR(2048) NOT NULL,
  whole TINYINT NOT NULL,
  edited_at DATETIME(3),
  version BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY feeds_author (author_id, id, visibility, deleted)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Texts that the excerpt does not hold whole, compressed as codec says.
CREATE TABLE feed_bodies (
  feed_id BIGINT NOT NULL,
  codec TINYINT NOT NULL,
  content MEDIUMBLOB NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (feed_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The counters of feeds, with what tells who may read them.
CREATE TABLE feed_counts (
  feed_id BIGINT NOT NULL,
  author_id BIGINT NOT NULL,
  visibility TINYINT NOT NULL,
  deleted TINYINT NOT NULL,
  likes INT NOT NULL,
  comments INT NOT NULL,
  views INT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (feed_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- One row per feed and player for ever; liked is 0 after an unlike.
CREATE TABLE likes (
  feed_id BIGINT NOT NULL,
  player_id BIGINT NOT NULL,
  like_id BIGINT NOT NULL,
  liked TINYINT NOT NULL,
  PRIMARY KEY (feed_id, player_id),
  KEY likes_feed (feed_id, liked, like_id),
  KEY likes_player (player_id, liked, like_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Events whose indexes are to be brought up to date.
CREATE TABLE outbox (
  id BIGINT NOT NULL,
  kind TINYINT NOT NULL,
  actor_id BIGINT NOT NULL,
  subject_id BIGINT NOT NULL,
  object_id BIGINT NOT NULL,
  stage TINYINT NOT NULL,
  owner BIGINT NOT NULL,
  lease_ms BIGINT NOT NULL,
  epoch INT NOT NULL,
  attempts INT NOT NULL,
  next_ms BIGINT NOT NULL,
  place VARBINARY(255) NOT NULL,
  last_error VARCHAR(1000) NOT NULL,
  done_ms BIGINT NOT NULL,
  PRIMARY KEY (id),
  KEY outbox_stage (stage, next_ms),
  KEY outbox_actor (actor_id, stage, id),
  KEY outbox_done (stage, done_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What came of requests that named a key.
CREATE TABLE idempotency (
  player_id BIGINT NOT NULL,
  operation VARBINARY(32) NOT NULL,
  idempotency_key VARBINARY(1020) NOT NULL,
  input_hash VARBINARY(32) NOT NULL,
  result_id BIGINT NOT NULL,
  created_ms BIGINT NOT NULL,
  PRIMARY KEY (player_id, operation, idempotency_key),
  KEY idempotency_created (created_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Who may make identifiers of which node, until when; owner 0 means nobody. until_ms outlives its
-- owner: the next one's identifiers are later.
CREATE TABLE node_leases (
  node INT NOT NULL,
  owner BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  PRIMARY KEY (node)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The epoch of the Redis indexes; values of another are absent.
CREATE TABLE index_epochs (
  role VARBINARY(16) NOT NULL,
  epoch BIGINT NOT NULL,
  PRIMARY KEY (role)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The ids that imported things had where they came from.
CREATE TABLE external_ids (
  kind TINYINT NOT NULL,
  external_id VARBINARY(64) NOT NULL,
  id BIGINT NOT NULL,
  PRIMARY KEY (kind, external_id),
  KEY external_ids_id (kind, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How far an import came.
CREATE TABLE import_progress (
  source VARBINARY(64) NOT NULL,
  phase VARCHAR(32) NOT NULL,
  position BIGINT NOT NULL,
  PRIMARY KEY (source)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

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
