//! Every rule, in the order of ids.

use crate::rule::Rule;

/// Every rule, in the order of ids.
pub static RULES: &[&Rule] = &[];
