//! The annotations that an upgrade knows by name.

/// An annotation that names the type a message was generated from: the option, the
/// field of its value, and the file that declares it.
pub(super) type Ancestry = (&'static str, &'static str, &'static str);

/// Keyed by the annotation for the status of a file, since a tree uses one
/// vocabulary.
pub(super) const ANCESTRIES: &[(&str, Ancestry)] = &[
    (
        "abide.annotations.v1.file_policy",
        (
            "abide.annotations.v1.message_policy",
            "previous_type",
            "abide/annotations/v1/lifecycle.proto",
        ),
    ),
    (
        "udpa.annotations.file_status",
        (
            "udpa.annotations.versioning",
            "previous_message_type",
            "udpa/annotations/versioning.proto",
        ),
    ),
    (
        "xds.annotations.v3.file_status",
        (
            "xds.annotations.v3.versioning",
            "previous_message_type",
            "xds/annotations/v3/versioning.proto",
        ),
    ),
];

/// Options whose value names a type: the option and the field of its value.
pub(super) const TYPE_NAMES: &[(&str, &str)] = &[
    ("envoy.annotations.resource", "type"),
    ("google.longrunning.operation_info", "metadata_type"),
    ("google.longrunning.operation_info", "response_type"),
];

/// Our own annotations, which hold more than migrations.
pub(super) const POLICIES: &[&str] = &[
    "abide.annotations.v1.enum_policy",
    "abide.annotations.v1.enum_value_policy",
    "abide.annotations.v1.field_policy",
    "abide.annotations.v1.file_policy",
    "abide.annotations.v1.message_policy",
    "abide.annotations.v1.method_policy",
    "abide.annotations.v1.oneof_policy",
    "abide.annotations.v1.service_policy",
];

/// The fields of them that declare migrations, or what these lose.
pub(super) const MIGRATION_FIELDS: &[&str] = &["lossy", "migration", "move_to_package"];

/// The fields of them that only mean something in a candidate.
pub(super) const CANDIDATE_FIELDS: &[&str] = &["by_hand", "next_major_only"];

/// Extensions that declare migrations and mean nothing after the upgrade.
pub(super) const MIGRATIONS: &[&str] = &[
    "udpa.annotations.enum_migrate",
    "udpa.annotations.enum_value_migrate",
    "udpa.annotations.field_migrate",
    "udpa.annotations.file_migrate",
    "udpa.annotations.message_migrate",
    "xds.annotations.v3.enum_migrate",
    "xds.annotations.v3.enum_value_migrate",
    "xds.annotations.v3.field_migrate",
    "xds.annotations.v3.file_migrate",
    "xds.annotations.v3.message_migrate",
];

/// The file that declares this annotation is only imported if one of its
/// annotations is left.
pub(super) const DEPRECATED_AT: &str = "envoy.annotations.deprecated_at_minor_version";
