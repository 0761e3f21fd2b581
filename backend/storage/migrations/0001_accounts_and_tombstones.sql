-- What the sign-in says of a user, shown beside what is remembered.
CREATE TABLE accounts (
  scope text PRIMARY KEY,
  name text,
  email text,
  avatar text,
  socials jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(socials) = 'array'),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- What was forgotten, so that work begun earlier does not write it again. The clock is the database's alone:
-- created_at is compared with times read from it, never with a client's.
CREATE TABLE tombstones (
  scope text NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (scope, kind, subject)
);
