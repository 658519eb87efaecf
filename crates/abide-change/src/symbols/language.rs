//! The languages whose generated code the model knows: one table of them.

use super::cpp::Cpp;
use super::generator::Generator;
use super::go::Go;
use super::java::Java;
use super::python::Python;
use crate::languages::{CPP, GO, JAVA, PYTHON};
use crate::surface::Surface;

/// Declares each language with its table; the model of its generators has its
/// name.
macro_rules! languages {
    ($($language:ident: $table:ident,)*) => {
        /// A language whose generated code is modelled.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each is named after the language")]
        pub enum Language {
            $($language,)*
        }

        impl Language {
            /// All of them, by name.
            pub const ALL: [Language; [$($table.surface),*].len()] =
                [$(Language::$language),*];

            /// Returns where its users meet an API.
            pub const fn surface(self) -> Surface {
                match self {
                    $(Language::$language => $table.surface,)*
                }
            }

            /// The model of its generators.
            pub(super) fn generator(self) -> &'static dyn Generator {
                match self {
                    $(Language::$language => &$language,)*
                }
            }
        }
    };
}

languages! {
    Cpp: CPP,
    Go: GO,
    Java: JAVA,
    Python: PYTHON,
}
