//! Go.

use super::table::{LanguageTable, Packaging, PackagingOption, ScalarNames};
use crate::surface::Surface;

/// Go. Keywords are those of the language, which `GoSanitized` of protobuf-go
/// avoids; members are those that its `protogen` reserves in every message.
pub(crate) const GO: LanguageTable = LanguageTable {
    name: "Go",
    packaging: &[PackagingOption { name: "go_package", derived: Packaging::Empty }],
    keywords: &[
        "break",
        "case",
        "chan",
        "const",
        "continue",
        "default",
        "defer",
        "else",
        "fallthrough",
        "for",
        "func",
        "go",
        "goto",
        "if",
        "import",
        "interface",
        "map",
        "package",
        "range",
        "return",
        "select",
        "struct",
        "switch",
        "type",
        "var",
    ],
    members: &[
        "Reset",
        "String",
        "ProtoMessage",
        "Marshal",
        "Unmarshal",
        "ExtensionRangeArray",
        "ExtensionMap",
        "Descriptor",
    ],
    scalars: ScalarNames {
        double: "float64",
        float: "float32",
        int64: "int64",
        uint64: "uint64",
        int32: "int32",
        uint32: "uint32",
        boolean: "bool",
        string: "string",
        bytes: "[]byte",
    },
    ..LanguageTable::new(Surface::SourceGo)
};
