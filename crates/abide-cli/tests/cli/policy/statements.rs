//! The statements that hold on any tree: in a small one, under each preset that carries the policy
//! of the document and with versions in either place.

mod calendar;
mod changes;
mod deprecation;
mod first_commit;
mod next_major;
mod shape;
mod versions;
mod world;
