//! What is an error, a warning or nothing.
