//! vN to v(N+1)alpha: what is deprecated goes, what is declared to migrate
//! migrates, and everything that names it follows. And v(N+1)alpha to v(N+1).
//!
//! Candidates are made by edits of the source text, so that comments, order
//! and layout of what does not change stay as they are. Nothing here writes a
//! file: texts and edits are values.

mod annotation;
mod build_file;
mod candidate;
mod edit;
mod imports;
mod judge;
mod layout;
mod links;
mod mapping;
mod payload;
mod plan;
mod promote;
mod record;
mod refusal;
mod release;
mod removal;
mod rewrite;
mod scope;
mod settings;
mod standing;
mod versioned;

pub use annotation::{STATUS_PROTO, record_edits};
pub use build_file::{BUILD_MARK, BuildFile, build_files, version_build_file};
pub use candidate::{Generated, Upgrade, is_made, upgrade};
pub use edit::{Edit, Overlap, apply};
pub use judge::{Clash, Drift, Taken, clashes, drifts, promotion_fault, taken};
pub use layout::canonical_layout;
pub use mapping::{Mapping, mapping};
pub use plan::{Basis, UpgradeOptions};
pub use refusal::Refusal;
pub use release::{Release, Risen, release};
pub use settings::{
    Closure, ImportOrder, Layout, LinkPolicy, Settings, UpgradePolicy, UpgradeReason,
};
pub use standing::{Standing, Standings};
