//! The statements of the stable API versioning policy, each on the built binary.
//! `testdata/policy/statements.md` lists which test proves which statement.

mod candidates;
mod days;
mod fixtures;
mod google_guide;
mod journeys;
mod lifecycle;
mod next_major;
mod reports;
mod statements;
mod upgrade;
mod verdicts;
mod withdrawn;
