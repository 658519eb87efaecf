//! Ruby.

use super::table::{LanguageTable, Packaging, PackagingOption};
use crate::surface::Surface;

/// Ruby; only where generated code is.
pub(crate) const RUBY: LanguageTable = LanguageTable {
    name: "Ruby",
    packaging: &[PackagingOption {
        name: "ruby_package",
        derived: Packaging::Pascal { joint: "::" },
    }],
    ..LanguageTable::new(Surface::SourceRuby)
};
