-- The threads that have been summarized or are about to be: who works on one now, and which turns stay uncompressed.
CREATE TABLE summarized_threads (
  scope text NOT NULL,
  thread_id text NOT NULL,
  claim uuid,
  claimed_until timestamptz,
  fenced text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (scope, thread_id)
);

-- A thread that goes away is known by its id alone.
CREATE INDEX summarized_threads_thread_id ON summarized_threads (thread_id);
