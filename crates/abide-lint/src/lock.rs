//! `abide.lock`: its format, its records, and the ledger of numbers and names.

mod lock;
mod lock_inputs;
mod merged_records;

pub(crate) use lock::ledger::{Ledger, Reuse};
pub use lock::{DependencyPin, Freeze, Lock, Record};
pub use lock_inputs::{PackagePast, Records, VersionIn};
pub use merged_records::without_record_conflicts;
