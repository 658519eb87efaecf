//! Notations of instances.

use abide_schema::value::JsonMapping;

/// A notation of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Notation {
    /// YAML 1.2, one or many documents.
    Yaml,
    /// The JSON mapping of protobuf.
    Json,
    /// Text format, one value.
    Text,
    /// The wire format, one value.
    Binary,
}

impl Notation {
    /// Every notation.
    pub const ALL: &[Notation] =
        &[Notation::Yaml, Notation::Json, Notation::Text, Notation::Binary];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Notation::Yaml => "yaml",
            Notation::Json => "json",
            Notation::Text => "text",
            Notation::Binary => "binary",
        }
    }

    /// The notation with this name.
    pub fn from_name(name: &str) -> Option<Notation> {
        Notation::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// Returns the ends of the names of its files, without the dot.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Notation::Yaml => &["yaml", "yml"],
            Notation::Json => &["json"],
            Notation::Text => &["txtpb", "textproto", "pbtxt", "pb_text", "textpb", "prototxt"],
            Notation::Binary => &["binpb", "pb", "bin"],
        }
    }

    /// The notation of a file with this name, by how it ends.
    pub fn from_path(path: &str) -> Option<Notation> {
        let (_, extension) = path.rsplit_once('.')?;
        Notation::ALL
            .iter()
            .copied()
            .find(|it| it.extensions().iter().any(|known| extension.eq_ignore_ascii_case(known)))
    }
}

/// The reader of YAML and JSON that is meant. Readers differ in what they take, and
/// a file is right if its own reader takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// The mapping of the protobuf documentation; plain words of YAML mean what
    /// the core schema of YAML 1.2 says.
    Protobuf,
    /// The reader of Envoy: plain words of YAML mean what YAML 1.1 says, of a file
    /// only the first document counts, of keys that are set twice the last, and
    /// the mapping of JSON is lenient.
    Envoy,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: &[Dialect] = &[Dialect::Protobuf, Dialect::Envoy];

    /// Its name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::Protobuf => "protobuf",
            Dialect::Envoy => "envoy",
        }
    }

    /// The mapping between JSON and values.
    pub const fn mapping(self) -> JsonMapping {
        match self {
            Dialect::Protobuf => JsonMapping::Strict,
            Dialect::Envoy => JsonMapping::Lenient,
        }
    }

    /// The dialect with this name.
    pub fn from_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// The dialect of values of this type where nobody says another one.
    pub fn from_type(full_name: &str) -> Dialect {
        let (top, _) = full_name.split_once('.').unwrap_or((full_name, ""));
        match top {
            "envoy" | "udpa" | "xds" => Dialect::Envoy,
            _ => Dialect::Protobuf,
        }
    }
}
