-- A rolled-back run is found by its id, which upstream's tables do not index.
CREATE INDEX IF NOT EXISTS checkpoints_run_id ON checkpoints ((metadata ->> 'run_id'));
