//! The admin port: its pages, and who may see them.

mod home;
mod page;
mod pages;
mod process_stats;
mod runtime;
mod stats;
mod tokens;

pub(crate) use self::pages::{routes, status_routes};
pub(crate) use self::tokens::Tokens;
