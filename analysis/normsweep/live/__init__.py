"""The page of a sweep under way, which `report --watch` rewrites every few seconds beside the training.

A rewrite reads the outcomes, one row of numbers per cell, and the steps of a bounded number of runs; it draws with SVG
and HTML of its own. Matplotlib would take a hundred times as long.
"""
