-- What the sign-in says of a user, shown beside what is remembered.
CREATE TABLE accounts (
  user_id text PRIMARY KEY,
  name text,
  email text,
  avatar text,
  socials jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(socials) = 'array'),
  updated_at timestamptz NOT NULL DEFAULT now()
);
