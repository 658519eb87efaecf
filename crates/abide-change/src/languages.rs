//! Tables for each language of generated code: reserved words, scalar types, packaging options.
//!
//! A language is a file here and a line in [`LANGUAGES`]. That is all for one of
//! which only the packaging options count. `symbols` also models what the
//! generators of some languages emit.

mod cpp;
mod csharp;
mod go;
mod java;
mod objc;
mod php;
mod python;
mod ruby;
mod swift;
mod table;

pub(crate) use self::cpp::{CPP, CPP_NAMESPACE};
pub(crate) use self::go::GO;
pub(crate) use self::java::JAVA;
pub use self::java::name_java_outer_class;
pub(crate) use self::python::PYTHON;
pub use self::table::{LanguageTable, Packaging, PackagingOption};

/// Every language, by its surface.
pub const LANGUAGES: &[LanguageTable] =
    &[CPP, GO, JAVA, PYTHON, csharp::CSHARP, objc::OBJC, php::PHP, ruby::RUBY, swift::SWIFT];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Surface;

    #[test]
    fn each_language_is_known_by_one_table() {
        for table in LANGUAGES {
            assert!(!table.name.is_empty() && table.surface.name().starts_with("source-"));
            assert!(table.packaging.is_sorted_by_key(|it| it.name), "{}", table.name);
        }
        // API clients exist in many languages.
        let is_language =
            |it: &&Surface| it.name().starts_with("source-") && **it != Surface::SourceGapic;
        let sources = Surface::ALL.iter().filter(is_language);
        assert!(sources.eq(LANGUAGES.iter().map(|it| &it.surface)));
        assert!(CPP.keywords.is_sorted(), "they are searched");
    }
}
