//! The types of expressions.

use std::fmt;

use abide_schema::{Cardinality, Field, Message, MessageId, Package, Scalar, Tree, Type};

use super::host::HostType;

/// The type of an expression.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is named after the type it is")]
pub enum CelType {
    /// Known only when the expression is evaluated.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    /// The type of a type.
    Type,
    /// A scalar or null: a message of wrappers.proto.
    Wrapper(Box<CelType>),
    List(Box<CelType>),
    Map(Box<CelType>, Box<CelType>),
    /// A message with its full name.
    Message(MessageId, String),
    /// A value of the program that uses expressions, or null.
    Host(&'static HostType),
}

impl CelType {
    /// A list.
    pub fn list(item: CelType) -> CelType {
        CelType::List(Box::new(item))
    }

    /// A map.
    pub fn map(key: CelType, value: CelType) -> CelType {
        CelType::Map(Box::new(key), Box::new(value))
    }

    /// The type of all values of a field.
    pub(crate) fn of_field(field: Field<'_>) -> CelType {
        match field.cardinality() {
            Cardinality::Singular => CelType::of_value(field),
            Cardinality::Repeated => CelType::list(CelType::of_value(field)),
            Cardinality::Map => {
                let part = |number| {
                    let entry = field.message_type()?;
                    entry.field_numbered(number).map(CelType::of_value)
                };
                CelType::map(part(1).unwrap_or(CelType::Dyn), part(2).unwrap_or(CelType::Dyn))
            }
        }
    }

    /// The type of one value of a field.
    pub(crate) fn of_value(field: Field<'_>) -> CelType {
        match field.ty() {
            Type::Scalar(scalar) => CelType::of_scalar(scalar),
            Type::Enum(_) => CelType::Int,
            Type::Message(id) => CelType::of_message(field.tree.message(id)),
            Type::Unresolved => CelType::Dyn,
        }
    }

    fn of_scalar(scalar: Scalar) -> CelType {
        match scalar {
            Scalar::Double | Scalar::Float => CelType::Double,
            Scalar::Int32
            | Scalar::Int64
            | Scalar::Sint32
            | Scalar::Sint64
            | Scalar::Sfixed32
            | Scalar::Sfixed64 => CelType::Int,
            Scalar::Uint32 | Scalar::Uint64 | Scalar::Fixed32 | Scalar::Fixed64 => CelType::Uint,
            Scalar::Bool => CelType::Bool,
            Scalar::String => CelType::String,
            Scalar::Bytes => CelType::Bytes,
        }
    }

    /// The type of a message; well-known ones have types of their own.
    pub(crate) fn of_message(message: Message<'_>) -> CelType {
        let name = message.full_name();
        let wrapper = |inner| CelType::Wrapper(Box::new(inner));
        match name.strip_prefix("google.protobuf.") {
            Some("Any" | "Value") => CelType::Dyn,
            Some("Duration") => CelType::Duration,
            Some("Timestamp") => CelType::Timestamp,
            Some("Struct") => CelType::map(CelType::String, CelType::Dyn),
            Some("ListValue") => CelType::list(CelType::Dyn),
            Some("BoolValue") => wrapper(CelType::Bool),
            Some("BytesValue") => wrapper(CelType::Bytes),
            Some("DoubleValue" | "FloatValue") => wrapper(CelType::Double),
            Some("Int32Value" | "Int64Value") => wrapper(CelType::Int),
            Some("StringValue") => wrapper(CelType::String),
            Some("UInt32Value" | "UInt64Value") => wrapper(CelType::Uint),
            _ => CelType::Message(message.id, name),
        }
    }

    /// Returns true if a value of one type may stand where the other is expected.
    pub(super) fn fits(&self, other: &CelType) -> bool {
        use CelType::{Duration, Dyn, Host, List, Map, Message, Null, Timestamp, Wrapper};
        match (self, other) {
            (Dyn, _) | (_, Dyn) => true,
            (Wrapper(a), Wrapper(b)) => a == b,
            (Null, Wrapper(_) | Message(..) | Host(_) | Duration | Timestamp)
            | (Wrapper(_) | Message(..) | Host(_) | Duration | Timestamp, Null) => true,
            (Wrapper(inner), it) | (it, Wrapper(inner)) => **inner == *it,
            (List(a), List(b)) => a.fits(b),
            (Map(key, value), Map(other, wanted)) => key.fits(other) && value.fits(wanted),
            (a, b) => a == b,
        }
    }

    /// The type of what may be of either type, which fit each other.
    pub(super) fn or(self, other: CelType) -> CelType {
        use CelType::{Dyn, List, Map, Null, Wrapper};
        match (self, other) {
            (Dyn, _) | (_, Dyn) => Dyn,
            (wrapper @ Wrapper(_), _) | (_, wrapper @ Wrapper(_)) => wrapper,
            (Null, it) => it,
            (List(a), List(b)) => CelType::list(a.or(*b)),
            (Map(key, value), Map(other, more)) => CelType::map(key.or(*other), value.or(*more)),
            (it, _) => it,
        }
    }

    /// Returns true if it may be a bool when it is evaluated.
    pub fn may_be_bool(&self) -> bool {
        self.fits(&CelType::Bool)
    }

    /// Returns true if it may be a string when it is evaluated.
    pub(crate) fn may_be_string(&self) -> bool {
        self.fits(&CelType::String)
    }
}

impl PartialEq for CelType {
    fn eq(&self, other: &CelType) -> bool {
        use CelType::{Host, List, Map, Message, Wrapper};
        match (self, other) {
            (Host(a), Host(b)) => std::ptr::eq(*a, *b),
            (Wrapper(a), Wrapper(b)) | (List(a), List(b)) => a == b,
            (Map(a, b), Map(c, d)) => a == c && b == d,
            (Message(a, _), Message(b, _)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl Eq for CelType {}

impl fmt::Display for CelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CelType::Dyn => "dyn",
            CelType::Null => "null",
            CelType::Bool => "bool",
            CelType::Int => "int",
            CelType::Uint => "uint",
            CelType::Double => "double",
            CelType::String => "string",
            CelType::Bytes => "bytes",
            CelType::Duration => "duration",
            CelType::Timestamp => "timestamp",
            CelType::Type => "type",
            CelType::Wrapper(inner) => return write!(f, "wrapper({inner})"),
            CelType::List(item) => return write!(f, "list({item})"),
            CelType::Map(key, value) => return write!(f, "map({key}, {value})"),
            CelType::Message(_, name) => name,
            CelType::Host(host) => host.name,
        })
    }
}

/// The message with a full name, wherever it is in the tree.
pub(crate) fn find_message<'t>(tree: &'t Tree, full_name: &str) -> Option<Message<'t>> {
    find_declared(tree, full_name, |package, rest| {
        let mut parts = rest.split('.');
        let first = parts.next()?;
        let mut found =
            package.files().flat_map(|it| it.messages()).find(|it| it.name() == first)?;
        for part in parts {
            found = found.messages().find(|it| it.name() == part)?;
        }
        Some(found)
    })
}

/// The number of an enum value with a full name in which the enum is a scope, as CEL
/// writes it: `acme.v1.Color.RED`.
pub(super) fn find_enum_value(tree: &Tree, full_name: &str) -> Option<i32> {
    let (scope, value) = full_name.rsplit_once('.')?;
    if let Some((message, name)) = scope.rsplit_once('.')
        && let Some(message) = find_message(tree, message)
    {
        let item = message.enums().find(|it| it.name() == name)?;
        return item.value_named(value).map(|it| it.number());
    }
    find_declared(tree, scope, |package, name| {
        let mut enums = package.files().flat_map(|it| it.enums());
        enums.find(|it| it.name() == name)?.value_named(value).map(|it| it.number())
    })
}

/// Looks a full name up in each package that it may be in.
fn find_declared<'t, T>(
    tree: &'t Tree,
    full_name: &str,
    find: impl Fn(Package<'t>, &str) -> Option<T>,
) -> Option<T> {
    let dots = full_name.match_indices('.').map(|(at, _)| at);
    let split = dots.map(|at| (full_name.get(..at), full_name.get(at + 1..)));
    split
        .chain([(Some(""), Some(full_name))])
        .find_map(|(package, rest)| find(tree.package_named(package?)?, rest?))
}
