"""What memory costs a turn, against the same sub-agent built plainly."""
