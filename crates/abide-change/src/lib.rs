//! What changed between two trees, and whom each change reaches.
//!
//! [`Diff`] pairs the elements of two trees, once, and a [`Comparison`] answers what
//! is asked of the pairs. Effects on surfaces are proven by witnesses: values that one
//! side writes and the other misreads; constraints are compared as sets of accepted
//! values; generated code by the symbols that protoc's generators emit. Nothing here
//! knows a rule, a severity or a policy.

mod api_client;
mod change;
mod comparison;
mod constraint;
mod diff;
mod effects;
mod element;
mod languages;
mod lost_symbols;
mod memo;
pub mod option;
mod prove;
mod show;
mod sides;
mod surface;
mod symbols;
mod value_words;
mod witness;

pub use api_client::{
    lost_endpoint, lost_parameter, lost_result, lost_scope, operation_type, paged_field,
};
pub use change::Change;
pub use comparison::Comparison;
pub use constraint::{ConstraintChange, FacetChange, Inclusion, rejection};
pub use diff::{Diff, RenamedType, namesake};
pub use effects::Effects;
pub use element::{base_name, entries, first_names, top_level};
pub use languages::{LANGUAGES, LanguageTable, Packaging, PackagingOption};
pub use lost_symbols::{lost, lost_by_use, lost_file};
pub use option::Holder;
pub use prove::Prover;
pub use show::{one_line, shown};
pub use sides::Sides;
pub use surface::{Direction, Surface};
pub use symbols::{GeneratedSymbol, Language, LostSymbol, symbols, symbols_of_file};
pub use value_words::value_words;
pub use witness::{Proof, Witness};
