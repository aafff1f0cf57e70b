"""Read-only queries for people and programs: lists, dashboards, exports and gauges. Nothing here writes but where it says so."""
