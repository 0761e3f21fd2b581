"""What a long thread costs, and what it still knows."""
