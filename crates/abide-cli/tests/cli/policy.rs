//! The statements of document 003, each on the built binary. The name of a test begins with the
//! number of its statement.

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
