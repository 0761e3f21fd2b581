-- name: find_database
SELECT FROM pg_database WHERE datname = 'afterthought'

-- name: create_database
-- The built-in collation never changes with the operating system; pg_trgm knows letters by the character type.
CREATE DATABASE afterthought TEMPLATE template0
  LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LC_COLLATE 'C' LC_CTYPE %(character_type)s
