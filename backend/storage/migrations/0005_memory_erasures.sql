-- When all of a scope, or what came from one of its threads, was erased: turns that were finished before are not recorded.
CREATE TABLE memory_erasures (
  scope text NOT NULL,
  thread_id text NOT NULL DEFAULT '',
  erased_at timestamptz NOT NULL,
  PRIMARY KEY (scope, thread_id)
);

-- Single episodes that their user deleted, without a word of them: the same turn is not recorded again.
CREATE TABLE forgotten_episodes (
  scope text NOT NULL,
  content_hash bytea NOT NULL,
  forgotten_at timestamptz NOT NULL,
  PRIMARY KEY (scope, content_hash)
);
