"""What measurements of turns stand on: a PostgreSQL, scripted models, both graphs, and the tables that are printed."""
