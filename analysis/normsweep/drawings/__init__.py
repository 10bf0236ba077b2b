"""What draws the figures; users call normsweep.figures."""
