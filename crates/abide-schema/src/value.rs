//! Dynamic values of any message of a tree.

mod access;
pub(crate) mod aggregate;
mod any;
mod binary;
pub(crate) mod codec;
pub(crate) mod error;
pub(crate) mod facts;
pub(crate) mod json;
mod names;
mod normalize;
pub(crate) mod reading;
mod retention;
mod shortest;
pub(crate) mod text;

pub use crate::dynamic::{Entry, MAX_NESTING, Message, Value};
pub use codec::Codec;
pub use error::{DecodeError, EncodeError, UndeclaredPolicy};
pub use facts::default_of;
pub use json::JsonMapping;
pub use json::syntax::{JsonKind, JsonMember, JsonNode, parse as parse_json};
pub use reading::{ReadError, ReadErrorKind, Reading, UndeclaredName, UnknownName};
pub use text::find_comments as text_comments;
