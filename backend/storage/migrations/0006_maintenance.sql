-- What is done now and then by one process of all: when it was last taken on.
CREATE TABLE maintenance (
  name text PRIMARY KEY,
  done_at timestamptz NOT NULL
);

-- Episodes of all scopes by their age, for pruning alone.
CREATE INDEX memories_episode_age ON memories (created_at, id) WHERE kind = 'episode';
