//! Checks and readers that several rules share.

mod aip;
mod buf_lint;
pub(crate) mod comment_scope;
pub(crate) mod constraints;
pub(crate) mod conversions;
mod dependencies;
mod doc_marks;
pub(crate) mod field_behaviors;
pub(crate) mod frozen_packages;
pub(crate) mod full_names;
mod name_case;
pub(crate) mod reserved;

pub(crate) use aip::{Resource, exempts, is_timestamp};
pub(crate) use buf_lint::{BUF_LINT_CATEGORIES, BufStability, ignored_by};
pub use buf_lint::{BufVersion, buf_lint_rule, buf_lint_rules};
pub(crate) use comment_scope::{
    BUF_MARKER, CommentScopes, Covers, MARKER, collect_comments, split_lines,
};
pub(crate) use constraints::{BUF, report_defects};
pub(crate) use dependencies::{
    ApiVersions, UNSTABLE_IMPORT, add_step_labels, describe_path, describe_use, find_reached,
    is_earlier_major, judged, report, report_less_stable, report_unstable_imports, stability,
    unversioned_reach,
};
pub(crate) use doc_marks::{CommentMark, OPENING, find_marks};
pub(crate) use frozen_packages::{find_freeze, find_unchanged};
pub(crate) use full_names::titled;
pub(crate) use name_case::{NameCase, buf_upper_snake, protolint_upper_snake};
pub(crate) use reserved::allows_extension;
