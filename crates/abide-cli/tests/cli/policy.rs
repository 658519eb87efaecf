//! The statements of document 003, each proven by tests that are named by its number.

mod verdicts;
