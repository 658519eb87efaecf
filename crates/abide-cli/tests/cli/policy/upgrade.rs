//! Candidates and releases.
