"""Pictures of results, as PNG and SVG."""
