//! Compares two trees: the changes between them, and the users that each change reaches.
//!
//! [`Diff`] pairs the elements of two trees, once, and a [`Comparison`] answers what
//! is asked of the pairs. Effects on surfaces are proven by witnesses: values that one
//! side writes and the other misreads; constraints are compared as sets of accepted
//! values; generated code by the symbols that protoc's generators emit. Nothing here
//! knows a rule, a severity or a policy.

mod api_client;
mod change;
mod code_use;
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
    describe_lost_scope, find_lost_endpoint, find_lost_parameter, find_lost_result,
    find_paged_field, resolve_operation_type,
};
pub use change::Change;
pub use code_use::{CodeNames, CodeUse};
pub use comparison::Comparison;
pub use constraint::{ConstraintChange, FacetChange, Inclusion, prove_rejection};
pub use diff::{ComparedTexts, Diff, RenamedType, find_namesake};
pub use effects::Effects;
pub use element::{base_name, collect_first_names, find_map_entries, list_top_level};
pub use languages::{LANGUAGES, LanguageTable, Packaging, PackagingOption, name_java_outer_class};
pub use lost_symbols::{find_lost_by_use, find_lost_in_file, find_lost_symbols};
pub use option::OptionOwner;
pub use prove::Prover;
pub use show::{format_value, to_one_line};
pub use sides::Sides;
pub use surface::{Direction, Surface};
pub use symbols::{GeneratedSymbol, Language, LostSymbol, list_symbols, list_symbols_of_file};
pub use value_words::split_value_names;
pub use witness::{Proof, Witness};
