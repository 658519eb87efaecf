//! Python.

use super::table::{LanguageTable, ScalarNames};
use crate::surface::Surface;

/// Python. Its generator renames nothing.
pub(crate) const PYTHON: LanguageTable = LanguageTable {
    name: "Python",
    suffix: "_pb2",
    generic_services: Some("py_generic_services"),
    scalars: ScalarNames {
        double: "float",
        float: "float",
        int64: "int",
        uint64: "int",
        int32: "int",
        uint32: "int",
        boolean: "bool",
        string: "str",
        bytes: "bytes",
    },
    ..LanguageTable::new(Surface::SourcePython)
};
