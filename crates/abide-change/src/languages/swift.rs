//! Swift.

use super::table::{LanguageTable, Packaging, PackagingOption};
use crate::surface::Surface;

/// Swift; only where generated code is.
pub(crate) const SWIFT: LanguageTable = LanguageTable {
    name: "Swift",
    packaging: &[PackagingOption { name: "swift_prefix", derived: Packaging::Empty }],
    ..LanguageTable::new(Surface::SourceSwift)
};
