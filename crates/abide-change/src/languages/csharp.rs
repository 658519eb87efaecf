//! C#.

use super::table::{LanguageTable, Packaging, PackagingOption};
use crate::surface::Surface;

/// C#; only where generated code is.
pub(crate) const CSHARP: LanguageTable = LanguageTable {
    name: "C#",
    packaging: &[PackagingOption {
        name: "csharp_namespace",
        derived: Packaging::Camel { joint: "." },
    }],
    ..LanguageTable::new(Surface::SourceCsharp)
};
