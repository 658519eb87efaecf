//! What is told about a tree: deprecations, the calendar, owners.
