//! The facts about elements that the expressions of rules can name.

mod comments;
mod elements;
mod options;
mod usage;
mod value;

use abide_validate::cel::HostType;

pub(crate) use elements::is_written;
pub(super) use elements::{
    ENUM, ENUM_VALUE, FIELD, FILE, MESSAGE, METHOD, ONEOF, PACKAGE, SERVICE,
};
pub(crate) use usage::FactTree;
pub(crate) use value::FactSubject;

/// The types of facts, in the order of the documentation.
const TYPES: &[&HostType] =
    &[&FILE, &PACKAGE, &MESSAGE, &FIELD, &ONEOF, &ENUM, &ENUM_VALUE, &SERVICE, &METHOD];

/// The facts whose values any file of a tree can decide.
pub(super) const FAR_FACTS: &[&str] =
    &["imported_by", "used_by_fields", "used_by_methods", "used_by_packages"];

/// A type of elements with its facts, for documentation.
#[derive(Clone, Debug)]
pub struct FactTypeDoc {
    /// The name of the type.
    pub name: &'static str,
    /// Its facts.
    pub facts: Vec<FactDoc>,
}

/// A fact, for documentation.
#[derive(Clone, Debug)]
pub struct FactDoc {
    /// The name that expressions use.
    pub name: &'static str,
    /// Its type, as CEL writes it.
    pub ty: String,
    /// One sentence.
    pub summary: &'static str,
}

/// Returns every type of elements with its facts.
pub fn list_fact_types() -> Vec<FactTypeDoc> {
    let fact = |it: &abide_validate::cel::HostMember| FactDoc {
        name: it.name,
        ty: (it.ty)().to_string(),
        summary: it.summary,
    };
    let list = |ty: &&HostType| FactTypeDoc {
        name: ty.name,
        facts: ty.members.iter().map(fact).collect(),
    };
    TYPES.iter().map(list).collect()
}
