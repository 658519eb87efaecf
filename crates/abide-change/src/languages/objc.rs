//! Objective-C.

use super::table::{LanguageTable, Packaging, PackagingOption};
use crate::surface::Surface;

/// Objective-C; only where generated code is.
pub(crate) const OBJC: LanguageTable = LanguageTable {
    name: "Objective-C",
    packaging: &[PackagingOption { name: "objc_class_prefix", derived: Packaging::Empty }],
    ..LanguageTable::new(Surface::SourceObjc)
};
