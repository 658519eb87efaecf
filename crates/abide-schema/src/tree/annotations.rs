//! The annotations that carry policy, read from options.
//!
//! Several vocabularies have the same meaning: `udpa.annotations`,
//! `xds.annotations.v3`, `envoy.annotations` and our own
//! `abide.annotations.v1`. Here they become one; [`read`] reads
//! them off a tree.

mod read;

use rustc_hash::FxHashMap;

use crate::ids::{FieldId, MessageId};
use crate::problem::Place;

/// Declares the extensions that have a meaning, by their full names.
macro_rules! annotations {
    ($($annotation:ident = $name:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Annotation { $($annotation,)* }

        pub(crate) const ANNOTATIONS: &[(Annotation, &str)] = &[$((Annotation::$annotation, $name),)*];
    };
}

annotations! {
    UdpaFileStatus = "udpa.annotations.file_status";
    UdpaVersioning = "udpa.annotations.versioning";
    UdpaFileMigrate = "udpa.annotations.file_migrate";
    UdpaMessageMigrate = "udpa.annotations.message_migrate";
    UdpaFieldMigrate = "udpa.annotations.field_migrate";
    UdpaEnumMigrate = "udpa.annotations.enum_migrate";
    UdpaEnumValueMigrate = "udpa.annotations.enum_value_migrate";
    UdpaSensitive = "udpa.annotations.sensitive";
    UdpaSecurity = "udpa.annotations.security";
    XdsFileStatus = "xds.annotations.v3.file_status";
    XdsMessageStatus = "xds.annotations.v3.message_status";
    XdsFieldStatus = "xds.annotations.v3.field_status";
    XdsVersioning = "xds.annotations.v3.versioning";
    XdsFileMigrate = "xds.annotations.v3.file_migrate";
    XdsMessageMigrate = "xds.annotations.v3.message_migrate";
    XdsFieldMigrate = "xds.annotations.v3.field_migrate";
    XdsEnumMigrate = "xds.annotations.v3.enum_migrate";
    XdsEnumValueMigrate = "xds.annotations.v3.enum_value_migrate";
    XdsSensitive = "xds.annotations.v3.sensitive";
    XdsSecurity = "xds.annotations.v3.security";
    EnvoyDeprecatedAt = "envoy.annotations.deprecated_at_minor_version";
    EnvoyDeprecatedAtEnum = "envoy.annotations.deprecated_at_minor_version_enum";
    EnvoyDisallowed = "envoy.annotations.disallowed_by_default";
    EnvoyDisallowedEnum = "envoy.annotations.disallowed_by_default_enum";
    EnvoyResource = "envoy.annotations.resource";
    AbideFile = "abide.annotations.v1.file_policy";
    AbideMessage = "abide.annotations.v1.message_policy";
    AbideField = "abide.annotations.v1.field_policy";
    AbideOneof = "abide.annotations.v1.oneof_policy";
    AbideEnum = "abide.annotations.v1.enum_policy";
    AbideEnumValue = "abide.annotations.v1.enum_value_policy";
    AbideService = "abide.annotations.v1.service_policy";
    AbideMethod = "abide.annotations.v1.method_policy";
    GoogleHttp = "google.api.http";
    GoogleResource = "google.api.resource";
    GoogleResourceReference = "google.api.resource_reference";
    GoogleFieldBehavior = "google.api.field_behavior";
    ValidateRules = "validate.rules";
    ValidateRequired = "validate.required";
    BufValidateField = "buf.validate.field";
    BufValidateOneof = "buf.validate.oneof";
}

impl Annotation {
    pub(crate) fn bit(self) -> u64 {
        1 << self as u64
    }
}

/// The extensions that hold our own annotation of an element.
pub(crate) const POLICIES: &[Annotation] = &[
    Annotation::AbideMessage,
    Annotation::AbideField,
    Annotation::AbideOneof,
    Annotation::AbideEnum,
    Annotation::AbideEnumValue,
    Annotation::AbideService,
    Annotation::AbideMethod,
];

pub(crate) const STATUSES: &[Annotation] =
    &[Annotation::XdsMessageStatus, Annotation::XdsFieldStatus];

pub(crate) const MIGRATIONS: &[Annotation] = &[
    Annotation::UdpaMessageMigrate,
    Annotation::UdpaFieldMigrate,
    Annotation::UdpaEnumMigrate,
    Annotation::UdpaEnumValueMigrate,
    Annotation::XdsMessageMigrate,
    Annotation::XdsFieldMigrate,
    Annotation::XdsEnumMigrate,
    Annotation::XdsEnumValueMigrate,
];

/// The extensions of a tree, and those that have a meaning to policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownAnnotations {
    pub(crate) by_number: FxHashMap<(MessageId, i32), FieldId>,
    pub(crate) annotations: FxHashMap<FieldId, Annotation>,
    /// The annotations that are declared, a bit for each.
    pub(crate) declared: u64,
}

const _: () = assert!(ANNOTATIONS.len() <= u64::BITS as usize);

impl KnownAnnotations {
    /// Returns true if any of these annotations is declared; most are not in most trees.
    pub(crate) fn declare(&self, wanted: &[Annotation]) -> bool {
        wanted.iter().any(|annotation| self.declared & annotation.bit() != 0)
    }

    /// The extension of a message with this number.
    pub(crate) fn extension_numbered(&self, message: MessageId, number: i32) -> Option<FieldId> {
        self.by_number.get(&(message, number)).copied()
    }
}

/// The status of a package version, as `package_version_status` declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PackageVersionStatus {
    /// It no longer changes.
    Frozen,
    /// Authors work on it.
    Active,
    /// It is generated from the active version.
    NextMajorVersionCandidate,
}

impl PackageVersionStatus {
    /// The name of the status in its enum.
    pub fn name(self) -> &'static str {
        match self {
            PackageVersionStatus::Frozen => "FROZEN",
            PackageVersionStatus::Active => "ACTIVE",
            PackageVersionStatus::NextMajorVersionCandidate => "NEXT_MAJOR_VERSION_CANDIDATE",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<PackageVersionStatus> {
        let name = name.strip_prefix("PACKAGE_VERSION_STATUS_").unwrap_or(name);
        [
            PackageVersionStatus::Frozen,
            PackageVersionStatus::Active,
            PackageVersionStatus::NextMajorVersionCandidate,
        ]
        .into_iter()
        .find(|status| status.name() == name)
    }
}

/// A change of an element in the next major version, as an annotation
/// version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migration<'t> {
    /// It will be renamed to this simple name.
    Rename(&'t str),
    /// It will move to this package.
    MoveToPackage(&'t str),
    /// It will become a member of the oneof with this name.
    PromoteToOneof(&'t str),
}

/// One way to call a method over HTTP, from `google.api.http`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpBinding<'t> {
    /// The HTTP method in capitals, or the `kind` of a custom pattern.
    pub method: &'t str,
    /// The path template.
    pub path: &'t str,
    /// The field that is the body of the request, or `*`.
    pub body: Option<&'t str>,
    /// The field that is the body of the response; `None` for all of it.
    pub response_body: Option<&'t str>,
    /// The place of the path.
    pub place: Place,
}

/// The requirements of `validate.rules` or `buf.validate` on a field or oneof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validation {
    /// The place of the annotation.
    pub place: Place,
    /// The place where it restricts an enum to its declared values, if it does.
    pub defined_only: Option<Place>,
    /// The place where it requires the field to be set, if it does.
    pub required: Option<Place>,
}
