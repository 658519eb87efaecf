//! The parts of the table of a language.

use abide_schema::Scalar;

use crate::surface::Surface;

/// The data about one language.
#[derive(Clone, Copy, Debug)]
pub struct LanguageTable {
    /// Its name, for people.
    pub name: &'static str,
    /// The surface on which its users meet an API.
    pub surface: Surface,
    /// The options of a file that say where its generated code is, sorted.
    pub packaging: &'static [PackagingOption],
    /// The option of a file that gives services the classes of protoc itself.
    pub(crate) generic_services: Option<&'static str>,
    /// The end of the names of generated files, in place of `.proto`.
    pub(crate) suffix: &'static str,
    /// Words that generators do not use as names.
    pub(crate) keywords: &'static [&'static str],
    /// Names of what every message has, which fields cannot have.
    pub(crate) members: &'static [&'static str],
    /// The types of scalar values.
    pub(crate) scalars: ScalarNames,
    /// The same as arguments of generic types, where these differ.
    pub(crate) boxed: ScalarNames,
}

impl LanguageTable {
    /// A language of which nothing else is known.
    pub(super) const fn new(surface: Surface) -> LanguageTable {
        LanguageTable {
            name: "",
            surface,
            packaging: &[],
            generic_services: None,
            suffix: "",
            keywords: &[],
            members: &[],
            scalars: ScalarNames::UNKNOWN,
            boxed: ScalarNames::UNKNOWN,
        }
    }
}

/// An option of a file that says where generated code is.
#[derive(Clone, Copy, Debug)]
pub struct PackagingOption {
    /// Its name.
    pub name: &'static str,
    /// The value that generators use if it is not set.
    pub derived: Packaging,
}

/// The value that generators use where a packaging option is not set. The derived values were
/// read off the output of the generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packaging {
    /// Nothing.
    Empty,
    /// `false`.
    False,
    /// The package of the file.
    Package,
    /// The components of the package, joined.
    Joined {
        /// The text between them.
        joint: &'static str,
    },
    /// The components of the package in camel case with an upper-case first letter, joined: letters
    /// behind digits are upper case, too.
    Camel {
        /// The text between them.
        joint: &'static str,
    },
    /// The components of the package in Pascal case, joined.
    Pascal {
        /// The text between them.
        joint: &'static str,
    },
    /// The components of the package, each with an upper-case first letter, joined.
    UpperFirst {
        /// The text between them.
        joint: &'static str,
    },
    /// The name of the file in Pascal case, unless a type of the file has it.
    OuterClass,
}

/// The types of a language for scalar values.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each is named after the type of protobuf")]
pub(crate) struct ScalarNames {
    pub(crate) double: &'static str,
    pub(crate) float: &'static str,
    pub(crate) int64: &'static str,
    pub(crate) uint64: &'static str,
    pub(crate) int32: &'static str,
    pub(crate) uint32: &'static str,
    pub(crate) boolean: &'static str,
    pub(crate) string: &'static str,
    pub(crate) bytes: &'static str,
}

impl ScalarNames {
    pub(super) const UNKNOWN: ScalarNames = ScalarNames {
        double: "?",
        float: "?",
        int64: "?",
        uint64: "?",
        int32: "?",
        uint32: "?",
        boolean: "?",
        string: "?",
        bytes: "?",
    };

    /// The type for values of a scalar.
    pub(crate) const fn of(&self, scalar: Scalar) -> &'static str {
        match scalar {
            Scalar::Double => self.double,
            Scalar::Float => self.float,
            Scalar::Int64 | Scalar::Sfixed64 | Scalar::Sint64 => self.int64,
            Scalar::Uint64 | Scalar::Fixed64 => self.uint64,
            Scalar::Int32 | Scalar::Sfixed32 | Scalar::Sint32 => self.int32,
            Scalar::Uint32 | Scalar::Fixed32 => self.uint32,
            Scalar::Bool => self.boolean,
            Scalar::String => self.string,
            Scalar::Bytes => self.bytes,
        }
    }
}
