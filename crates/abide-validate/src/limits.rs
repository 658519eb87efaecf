//! Constraints of fields as sets of accepted values.

mod datum;
mod field_limits;
mod interpret;

pub use self::datum::{Contents, Datum, DatumKind, ValueType, convert, domain, element, key};
pub use self::field_limits::{DialectLimits, FieldLimits, ListLimits, ValueLimits, ValueSet};
