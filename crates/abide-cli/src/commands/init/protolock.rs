//! `proto.lock`, which protolock writes: what protolock refuses.

use std::fmt::Write;

use abide_lint::Preset;
use serde_json::{Value, json};

use super::policy::ForeignPolicy;

/// The rules of protolock. All of them are on.
const RULES: &[&str] = &[
    "NoUsingReservedFields",
    "NoRemovingReservedFields",
    "NoRemovingFieldsWithoutReserve",
    "NoChangingFieldIDs",
    "NoChangingFieldTypes",
    "NoChangingFieldNames",
    "NoRemovingRPCs",
    "NoChangingRPCSignature",
    "NoMovingExistingFieldsIntoOrOutOfOneof",
];

/// The policy of protolock, if the text is a `proto.lock`.
pub(super) fn parse_policy(text: &str) -> Option<ForeignPolicy> {
    let lock: Value = serde_json::from_str(text).ok()?;
    let files = lock.get("definitions")?.as_array()?;
    let mut tables = String::from(
        "\n[rules]\n# What protolock does not have. Turn on what you want.\nlayout = \"off\"\n\
         dependencies = \"off\"\nlifecycle = \"off\"\nstyle = \"off\"\n\
         compiler-warning = \"off\"\n\n[breaking]\n\
         # protolock judges every package, whatever its version.\n\
         stabilities = [\"alpha\", \"beta\", \"stable\", \"unversioned\"]\n\
         # The rules of protolock. Without this list, every break is an error.\naliases = [\n",
    );
    for rule in RULES {
        // Writing to a string does not fail.
        let _ = writeln!(tables, "  {},", json!(format!("protolock:{rule}")));
    }
    tables.push_str("]\n");
    let notes = vec![format!(
        "the lock of {} is not read: abide compares with the revision that `against` names; \
         remove proto.lock once `abide check` runs in CI",
        abide_lint::pluralize(files.len(), "file")
    )];
    Some(ForeignPolicy { preset: Preset::Standard, of: "proto.lock", tables, notes })
}
