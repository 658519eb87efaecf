//! The names of constants in C++.

use abide_schema::{Field, Message};
use rustc_hash::FxHashSet;

use crate::symbols::elements::camel;

/// `kFooFieldNumber` of each field, in the order of the fields. Of fields with the
/// same name in camel case, the first one has it; the others get their number
/// appended.
#[derive(Debug)]
pub(crate) struct CppNames {
    pub(crate) constants: Vec<String>,
}

impl CppNames {
    pub(super) fn of(message: Message<'_>) -> CppNames {
        let mut taken = FxHashSet::default();
        let constant = |field: Field<'_>| {
            let constant = number_constant(field);
            match taken.insert(constant.clone()) {
                true => constant,
                false => format!("{constant}_{}", field.number()),
            }
        };
        CppNames { constants: message.fields().map(constant).collect() }
    }
}

/// The constant with the number of a field.
pub(crate) fn number_constant(field: Field<'_>) -> String {
    format!("k{}FieldNumber", camel(field.name(), true))
}
