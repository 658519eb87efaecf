//! The annotations that an upgrade knows by name.

/// An annotation that names the type a message was made from: the option, the
/// field of its value, the file that declares it.
pub(super) type Ancestry = (&'static str, &'static str, &'static str);

/// By the annotation that holds the status of a file: a tree speaks one
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

/// Our own annotations, which say more than what an upgrade does.
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

/// What of them does.
pub(super) const MIGRATION_FIELDS: &[&str] = &["migration", "move_to_package"];

/// Extensions that say what an upgrade does, and mean nothing afterwards.
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

/// Since this annotation exists, the file that declares it is imported only
/// where one of its annotations is left.
pub(super) const DEPRECATED_AT: &str = "envoy.annotations.deprecated_at_minor_version";
