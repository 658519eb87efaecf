//! PHP.

use super::table::{LanguageTable, Packaging, PackagingOption};
use crate::surface::Surface;

/// PHP; only where generated code is.
pub(crate) const PHP: LanguageTable = LanguageTable {
    name: "PHP",
    packaging: &[
        PackagingOption { name: "php_class_prefix", derived: Packaging::Empty },
        PackagingOption { name: "php_metadata_namespace", derived: Packaging::Empty },
        PackagingOption { name: "php_namespace", derived: Packaging::UpperFirst { joint: "\\" } },
    ],
    ..LanguageTable::new(Surface::SourcePhp)
};
