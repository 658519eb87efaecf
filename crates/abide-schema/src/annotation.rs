//! The annotations that carry policy, read from options.
//!
//! Several vocabularies say the same thing: `udpa.annotations`,
//! `xds.annotations.v3`, `envoy.annotations` and our own
//! `abide.annotations.v1`. Here they become one.

use rustc_hash::FxHashMap;

use crate::decl::Part;
use crate::ids::{FieldId, MessageId};
use crate::problem::Place;
use crate::tree::{Element, Enum, EnumValue, Field, File, Message, Method, Service, Tree};
use crate::value::{self, Entry, Value};

/// Declares the extensions that have a meaning, by their full names.
macro_rules! annotations {
    ($($annotation:ident = $name:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Annotation { $($annotation,)* }

        const ANNOTATIONS: &[(Annotation, &str)] = &[$((Annotation::$annotation, $name),)*];
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
    fn bit(self) -> u64 {
        1 << self as u64
    }
}

/// What our own annotation of an element stands in.
const POLICIES: &[Annotation] = &[
    Annotation::AbideMessage,
    Annotation::AbideField,
    Annotation::AbideOneof,
    Annotation::AbideEnum,
    Annotation::AbideEnumValue,
    Annotation::AbideService,
    Annotation::AbideMethod,
];

const STATUSES: &[Annotation] = &[Annotation::XdsMessageStatus, Annotation::XdsFieldStatus];

const MIGRATIONS: &[Annotation] = &[
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
#[derive(Debug, Default)]
pub(crate) struct Known {
    by_number: FxHashMap<(MessageId, i32), FieldId>,
    annotations: FxHashMap<FieldId, Annotation>,
    /// Which of the annotations are declared, a bit for each.
    declared: u64,
}

const _: () = assert!(ANNOTATIONS.len() <= u64::BITS as usize);

impl Known {
    /// Of a tree whose names are linked.
    pub(crate) fn of(tree: &Tree) -> Known {
        let mut known = Known::default();
        for file in tree.files() {
            let nested = file.all_messages().flat_map(|message| message.extensions());
            for field in file.extensions().chain(nested) {
                if let Some(extendee) = field.extendee() {
                    let key = (extendee.id, field.number());
                    known.by_number.entry(key).or_insert(field.id);
                }
                let name = field.full_name();
                let found = ANNOTATIONS.iter().find(|(_, known)| *known == name);
                if let Some((annotation, _)) = found {
                    known.annotations.insert(field.id, *annotation);
                    known.declared |= annotation.bit();
                }
            }
        }
        known
    }

    /// Whether any of these annotations is declared; most are not in most trees.
    fn declare(&self, wanted: &[Annotation]) -> bool {
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
    /// It does not change any more.
    Frozen,
    /// It is what authors work on.
    Active,
    /// It is made by machine from the active version.
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

    fn named(name: &str) -> Option<PackageVersionStatus> {
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

/// What an annotation says will become of an element in the next major
/// version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migration<'t> {
    /// It gets this simple name.
    Rename(&'t str),
    /// It moves to this package.
    MoveToPackage(&'t str),
    /// It becomes a member of the oneof with this name.
    PromoteToOneof(&'t str),
}

/// One way to call a method over HTTP, from `google.api.http`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpBinding<'t> {
    /// The HTTP method in capitals, or the `kind` of a custom pattern.
    pub method: &'t str,
    /// The path template.
    pub path: &'t str,
    /// The field that the body of the request holds, or `*`.
    pub body: Option<&'t str>,
    /// The field that the body of the response holds; `None`: all of it.
    pub response_body: Option<&'t str>,
    /// Where the path stands.
    pub place: Place,
}

/// What `validate.rules` or `buf.validate` demand of a field or oneof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validation {
    /// Where the annotation stands.
    pub place: Place,
    /// Where it allows only the declared values of an enum.
    pub defined_only: Option<Place>,
    /// Where it demands that the field is set.
    pub required: Option<Place>,
}

/// The options of a file or of one of its elements.
#[derive(Clone, Copy)]
struct Options<'t> {
    tree: &'t Tree,
    file: File<'t>,
    element: Option<Element<'t>>,
}

impl<'t> Options<'t> {
    /// What is set.
    fn set(self) -> Option<&'t value::Message> {
        match self.element {
            Some(element) => element.options(),
            None => self.file.options(),
        }
    }

    /// Where to point when the options came from a descriptor and have no
    /// place of their own.
    fn fallback(self) -> Place {
        match self.element {
            Some(element) => element.place(Part::Name),
            None => self.file.package_place(),
        }
    }

    fn place(self, entry: &Entry) -> Place {
        if entry.span.is_empty() && entry.key.is_empty() {
            return self.fallback();
        }
        Place { file: self.file.id, span: entry.key.to(entry.span) }
    }

    /// Where the value of an entry stands.
    fn value_place(self, entry: &Entry) -> Place {
        if entry.span.is_empty() {
            self.fallback()
        } else {
            Place { file: self.file.id, span: entry.span }
        }
    }

    /// An annotation in any of its spellings.
    fn any(self, wanted: &[Annotation]) -> Option<&'t Entry> {
        let known = &self.tree.known;
        if !known.declare(wanted) {
            return None;
        }
        let is_wanted = |entry: &&Entry| {
            known.annotations.get(&entry.field).is_some_and(|found| wanted.contains(found))
        };
        self.set()?.entries.iter().find(is_wanted)
    }

    /// A field of the message that an annotation holds.
    fn field_of(self, wanted: &[Annotation], name: &str) -> Option<&'t Entry> {
        self.any(wanted)?.value.as_message()?.get(self.tree, name)
    }

    fn text(self, entry: Option<&'t Entry>) -> Option<(&'t str, Place)> {
        let entry = entry?;
        let text = entry.value.as_str().filter(|text| !text.is_empty())?;
        Some((text, self.place(entry)))
    }

    fn flag(self, entry: Option<&'t Entry>) -> Option<Place> {
        let entry = entry?;
        (entry.value == Value::Bool(true)).then(|| self.place(entry))
    }

    fn own(self, name: &str) -> Option<&'t Entry> {
        self.set()?.get(self.tree, name)
    }
}

impl<'t> File<'t> {
    fn annotated(self) -> Options<'t> {
        Options { tree: self.tree, file: self, element: None }
    }

    /// The status of its package version, where an annotation names one:
    /// `file_status` of udpa, or our own `file_policy`.
    pub fn package_version_status(self) -> Option<(PackageVersionStatus, Place)> {
        let options = self.annotated();
        let entry = [Annotation::AbideFile, Annotation::UdpaFileStatus, Annotation::XdsFileStatus]
            .into_iter()
            .find_map(|annotation| options.field_of(&[annotation], "package_version_status"))?;
        let Value::Enum(number) = entry.value else { return None };
        let values = self.tree.field(entry.field).enum_type()?;
        let name = values.values().find(|value| value.number() == number)?.name();
        Some((PackageVersionStatus::named(name)?, options.place(entry)))
    }

    /// Where it says that all of it is work in progress.
    pub fn work_in_progress(self) -> Option<Place> {
        let options = self.annotated();
        [Annotation::AbideFile, Annotation::UdpaFileStatus, Annotation::XdsFileStatus]
            .into_iter()
            .find_map(|annotation| {
                options.flag(options.field_of(&[annotation], "work_in_progress"))
            })
    }

    /// The date since when its package exists, as `YYYY-MM-DD`.
    pub fn introduced(self) -> Option<(&'t str, Place)> {
        self.policy("introduced")
    }

    /// The version that its package bears, as its release wrote it.
    pub fn released_version(self) -> Option<(&'t str, Place)> {
        self.policy("version")
    }

    /// The semantic hash that the file itself had under
    /// [`released_version`](File::released_version).
    pub fn released_hash(self) -> Option<(&'t str, Place)> {
        self.policy("hash")
    }

    fn policy(self, name: &str) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.text(options.field_of(&[Annotation::AbideFile], name))
    }

    /// The package it moves to with the next major version.
    pub fn move_to_package(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        let migrations = [Annotation::UdpaFileMigrate, Annotation::XdsFileMigrate];
        options
            .text(options.field_of(&migrations, "move_to_package"))
            .or_else(|| self.policy("move_to_package"))
    }

    /// The value of a string option of `google.protobuf.FileOptions`, such as
    /// `go_package`.
    pub fn string_option(self, name: &str) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.text(options.own(name))
    }

    /// The option `go_package`.
    pub fn go_package(self) -> Option<(&'t str, Place)> {
        self.string_option("go_package")
    }

    /// The option `java_package`.
    pub fn java_package(self) -> Option<(&'t str, Place)> {
        self.string_option("java_package")
    }

    /// Where the option `deprecated` of the file is set.
    pub fn deprecated(self) -> Option<Place> {
        let options = self.annotated();
        options.flag(options.own("deprecated"))
    }
}

impl<'t> Element<'t> {
    fn annotated(self) -> Options<'t> {
        let file = self.file();
        Options { tree: file.tree, file, element: Some(self) }
    }

    /// What encloses it; `None` for an element of the top level.
    pub fn parent(self) -> Option<Element<'t>> {
        match self {
            Element::Message(it) => it.parent().map(Element::Message),
            Element::Field(it) => it.parent().map(Element::Message),
            Element::Oneof(it) => Some(Element::Message(it.message())),
            Element::Enum(it) => it.parent().map(Element::Message),
            Element::EnumValue(it) => Some(Element::Enum(it.parent())),
            Element::Service(_) => None,
            Element::Method(it) => Some(Element::Service(it.service())),
        }
    }

    /// Where it says that it is work in progress: the element itself, one that
    /// encloses it, or its file.
    pub fn work_in_progress(self) -> Option<Place> {
        let known = &self.file().tree.known;
        let can_say = known.declare(POLICIES) || known.declare(STATUSES);
        let mut next = can_say.then_some(self);
        while let Some(element) = next {
            let options = element.annotated();
            for annotations in [POLICIES, STATUSES] {
                let entry = options.field_of(annotations, "work_in_progress");
                if let Some(place) = options.flag(entry) {
                    return Some(place);
                }
            }
            next = element.parent();
        }
        self.file().work_in_progress()
    }

    /// Where its option `deprecated` is set.
    pub fn deprecated(self) -> Option<Place> {
        let options = self.annotated();
        options.flag(options.own("deprecated"))
    }

    /// The version since when it is deprecated.
    pub fn deprecated_since(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.text(options.field_of(POLICIES, "deprecated_at")).or_else(|| {
            let envoy = [Annotation::EnvoyDeprecatedAt, Annotation::EnvoyDeprecatedAtEnum];
            options.text(options.any(&envoy))
        })
    }

    /// Where it says that its use is refused unless an operator allows it.
    pub fn disallowed_by_default(self) -> Option<Place> {
        let options = self.annotated();
        options.flag(options.field_of(POLICIES, "disallowed_by_default")).or_else(|| {
            let envoy = [Annotation::EnvoyDisallowed, Annotation::EnvoyDisallowedEnum];
            options.flag(options.any(&envoy))
        })
    }

    /// The full or simple name of what is to be used in its place.
    pub fn replaced_by(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.text(options.field_of(POLICIES, "replaced_by"))
    }

    /// What becomes of it in the next major version, and where that is said.
    pub fn migrations(self) -> Vec<(Migration<'t>, Place)> {
        let options = self.annotated();
        let ours =
            options.field_of(POLICIES, "migration").and_then(|entry| entry.value.as_message());
        let theirs = options.any(MIGRATIONS).and_then(|entry| entry.value.as_message());
        let mut migrations = Vec::new();
        for message in ours.into_iter().chain(theirs) {
            for entry in &message.entries {
                let Some((text, place)) = options.text(Some(entry)) else { continue };
                let migration = match options.tree.field(entry.field).name() {
                    "rename" => Migration::Rename(text),
                    "move_to_package" => Migration::MoveToPackage(text),
                    "oneof_promotion" | "promote_to_oneof" => Migration::PromoteToOneof(text),
                    _ => continue,
                };
                migrations.push((migration, place));
            }
        }
        migrations
    }

    /// What validation demands of it; for fields and oneofs.
    pub fn validation(self) -> Option<Validation> {
        let options = self.annotated();
        let tree = options.tree;
        let rules = [
            Annotation::ValidateRules,
            Annotation::ValidateRequired,
            Annotation::BufValidateField,
            Annotation::BufValidateOneof,
        ];
        let entry = options.any(&rules)?;
        // `required` of the rules themselves or of those of one type.
        let find = |name: &str| {
            let rules = entry.value.as_message()?;
            let inner = rules.entries.iter().filter_map(|entry| entry.value.as_message());
            let mut all = std::iter::once(rules).chain(inner);
            all.find_map(|rules| options.flag(rules.get(tree, name)))
        };
        Some(Validation {
            place: options.place(entry),
            defined_only: find("defined_only"),
            required: options.flag(Some(entry)).or_else(|| find("required")),
        })
    }
}

macro_rules! annotated {
    ($($view:ident)*) => {$(
        impl<'t> $view<'t> {
            fn annotated(self) -> Options<'t> {
                Element::$view(self).annotated()
            }
        }
    )*};
}

annotated!(Message Field Service Method);

impl<'t> Message<'t> {
    /// The full name of the type it was made from, in the major version
    /// before.
    pub fn previous_type(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        let versioning = [Annotation::UdpaVersioning, Annotation::XdsVersioning];
        options.text(options.field_of(&versioning, "previous_message_type")).or_else(|| {
            options.text(options.field_of(&[Annotation::AbideMessage], "previous_type"))
        })
    }

    /// The type of the resource it describes, from `google.api.resource`.
    pub fn resource_type(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.text(options.field_of(&[Annotation::GoogleResource], "type"))
    }
}

impl<'t> Field<'t> {
    /// Where it says that its values must not be shown.
    pub fn sensitive(self) -> Option<Place> {
        let options = self.annotated();
        options.flag(options.any(&[Annotation::UdpaSensitive, Annotation::XdsSensitive]))
    }

    /// Where the annotation `security` of udpa or xds stands.
    pub fn security(self) -> Option<Place> {
        let options = self.annotated();
        let entry = options.any(&[Annotation::UdpaSecurity, Annotation::XdsSecurity])?;
        Some(options.place(entry))
    }

    /// The type of the resource it names, from `google.api.resource_reference`.
    pub fn resource_reference(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        let wanted = [Annotation::GoogleResourceReference];
        options
            .text(options.field_of(&wanted, "type"))
            .or_else(|| options.text(options.field_of(&wanted, "child_type")))
    }

    /// Its behaviours from `google.api.field_behavior`, such as `REQUIRED`.
    pub fn behaviors(self) -> impl Iterator<Item = (&'t str, Place)> {
        let options = self.annotated();
        let tree = self.tree;
        options.set().into_iter().flat_map(|message| &message.entries).filter_map(move |entry| {
            if tree.known.annotations.get(&entry.field) != Some(&Annotation::GoogleFieldBehavior) {
                return None;
            }
            let Value::Enum(number) = entry.value else { return None };
            let values = tree.field(entry.field).enum_type()?;
            let value = values.values().find(|value| value.number() == number)?;
            Some((value.name(), options.place(entry)))
        })
    }
}

impl<'t> Enum<'t> {
    /// The value with the number zero.
    pub fn zero_value(self) -> Option<EnumValue<'t>> {
        self.values().find(|value| value.number() == 0)
    }
}

impl<'t> Service<'t> {
    /// The full name of the type it serves, from `envoy.annotations.resource`.
    pub fn resource_type(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.text(options.field_of(&[Annotation::EnvoyResource], "type"))
    }
}

impl<'t> Method<'t> {
    /// The ways to call it over HTTP, additional bindings included.
    pub fn http_bindings(self) -> Vec<HttpBinding<'t>> {
        let options = self.annotated();
        let mut bindings = Vec::new();
        let rule = options.any(&[Annotation::GoogleHttp]).and_then(|it| it.value.as_message());
        if let Some(rule) = rule {
            bindings.extend(http_binding(options, rule));
            let tree = options.tree;
            for entry in &rule.entries {
                if tree.field(entry.field).name() == "additional_bindings"
                    && let Some(rule) = entry.value.as_message()
                {
                    bindings.extend(http_binding(options, rule));
                }
            }
        }
        bindings
    }
}

fn http_binding<'t>(options: Options<'t>, rule: &'t value::Message) -> Option<HttpBinding<'t>> {
    let tree = options.tree;
    let text = |name| rule.str(tree, name).filter(|text| !text.is_empty());
    let (body, response_body) = (text("body"), text("response_body"));
    rule.entries.iter().rev().find_map(|entry| {
        let (method, path) = match tree.field(entry.field).name() {
            "get" => ("GET", entry),
            "put" => ("PUT", entry),
            "post" => ("POST", entry),
            "delete" => ("DELETE", entry),
            "patch" => ("PATCH", entry),
            "custom" => {
                let custom = entry.value.as_message()?;
                (custom.str(tree, "kind")?, custom.get(tree, "path")?)
            }
            _ => return None,
        };
        let place = options.value_place(path);
        Some(HttpBinding { method, path: path.value.as_str()?, body, response_body, place })
    })
}
