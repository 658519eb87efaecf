//! Annotations as views show them.

use crate::decl::{Comment, Node, Part};
use crate::dynamic::{self as value, Entry, Value};
use crate::problem::Place;
use crate::protobuf::descriptor_number::{
    self, enumeration, field, file, message, method, oneof, service,
};
use crate::protobuf::to_camel_case;
use crate::tree::Tree;
use crate::tree::annotations::{
    ANNOTATIONS, Annotation, HttpBinding, KnownAnnotations, MIGRATIONS, Migration, POLICIES,
    PackageVersionStatus, STATUSES, Validation,
};
use crate::tree::element::Element;
use crate::tree::view::{Enum, EnumValue, Field, File, Message, Method, Service};

impl KnownAnnotations {
    /// Finds them in a tree whose names are linked.
    pub(crate) fn find(tree: &Tree) -> KnownAnnotations {
        let mut known = KnownAnnotations::default();
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
}

/// The options of a file or of one of its elements.
#[derive(Clone, Copy)]
struct ElementOptions<'t> {
    tree: &'t Tree,
    file: File<'t>,
    element: Option<Element<'t>>,
}

impl<'t> ElementOptions<'t> {
    /// The options that are set.
    fn set(self) -> Option<&'t value::Message> {
        match self.element {
            Some(element) => element.options(),
            None => self.file.options(),
        }
    }

    /// The place to point at if the options came from a descriptor and have no
    /// place.
    fn fallback(self) -> Place {
        match self.element {
            Some(element) => element.place(Part::Name),
            None => self.file.package_place(),
        }
    }

    fn key_place(self, entry: &Entry) -> Place {
        if entry.span.is_empty() && entry.key.is_empty() {
            return self.fallback();
        }
        Place { file: self.file.id, span: entry.key.to(entry.span) }
    }

    /// The place of the value of an entry.
    fn find_value_place(self, entry: &Entry) -> Place {
        if entry.span.is_empty() {
            self.fallback()
        } else {
            Place { file: self.file.id, span: entry.span }
        }
    }

    /// An annotation in any of its spellings.
    fn find_any(self, wanted: &[Annotation]) -> Option<&'t Entry> {
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
    fn find_field(self, wanted: &[Annotation], name: &str) -> Option<&'t Entry> {
        self.find_any(wanted)?.value.as_message()?.get(self.tree, name)
    }

    fn as_text(self, entry: Option<&'t Entry>) -> Option<(&'t str, Place)> {
        let entry = entry?;
        let text = entry.value.as_str().filter(|text| !text.is_empty())?;
        Some((text, self.key_place(entry)))
    }

    fn as_flag(self, entry: Option<&'t Entry>) -> Option<Place> {
        let entry = entry?;
        (entry.value == Value::Bool(true)).then(|| self.key_place(entry))
    }

    fn find_own(self, name: &str) -> Option<&'t Entry> {
        self.set()?.get(self.tree, name)
    }

    /// The comments at its option `deprecated`.
    fn comments_at_deprecated(self) -> Vec<Comment> {
        let Some(entry) = self.find_own("deprecated") else { return Vec::new() };
        let (node, options) = match self.element {
            None => (Node::NONE, file::OPTIONS),
            Some(element) => (element.node(), choose_options_field(element)),
        };
        let path = [options, self.tree.field(entry.field).number() as u32];
        self.file.decl().collect_comments_at_option(node, entry.key.to(entry.span), path)
    }
}

impl<'t> File<'t> {
    fn annotated(self) -> ElementOptions<'t> {
        ElementOptions { tree: self.tree, file: self, element: None }
    }

    /// The status of its package version, if an annotation sets one:
    /// `file_status` of udpa, or our own `file_policy`.
    pub fn package_version_status(self) -> Option<(PackageVersionStatus, Place)> {
        let options = self.annotated();
        let entry = [Annotation::AbideFile, Annotation::UdpaFileStatus, Annotation::XdsFileStatus]
            .into_iter()
            .find_map(|annotation| options.find_field(&[annotation], "package_version_status"))?;
        let Value::Enum(number) = entry.value else { return None };
        let values = self.tree.field(entry.field).enum_type()?;
        let name = values.values().find(|value| value.number() == number)?.name();
        Some((PackageVersionStatus::from_name(name)?, options.key_place(entry)))
    }

    /// Returns true if its status is that of a candidate for the next major, which nobody has
    /// released yet.
    pub fn is_candidate(self) -> bool {
        let candidate = PackageVersionStatus::NextMajorVersionCandidate;
        self.package_version_status().is_some_and(|(status, _)| status == candidate)
    }

    /// Returns the place where the whole file is marked as work in progress.
    pub fn work_in_progress(self) -> Option<Place> {
        let options = self.annotated();
        [Annotation::AbideFile, Annotation::UdpaFileStatus, Annotation::XdsFileStatus]
            .into_iter()
            .find_map(|annotation| {
                options.as_flag(options.find_field(&[annotation], "work_in_progress"))
            })
    }

    /// The date on which its package was introduced, as `YYYY-MM-DD`.
    pub fn introduced(self) -> Option<(&'t str, Place)> {
        self.policy("introduced")
    }

    /// The date on which its package was frozen, as `YYYY-MM-DD`.
    pub fn frozen(self) -> Option<(&'t str, Place)> {
        self.policy("frozen")
    }

    /// The version of its package, as its release wrote it.
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
        options.as_text(options.find_field(&[Annotation::AbideFile], name))
    }

    /// Returns true if people maintain its package as the next major version.
    pub fn by_hand(self) -> Option<Place> {
        let options = self.annotated();
        options.as_flag(options.find_field(&[Annotation::AbideFile], "by_hand"))
    }

    /// The package that it moves to in the next major version.
    pub fn move_to_package(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        let migrations = [Annotation::UdpaFileMigrate, Annotation::XdsFileMigrate];
        options
            .as_text(options.find_field(&migrations, "move_to_package"))
            .or_else(|| self.policy("move_to_package"))
    }

    /// The value of a string option of `google.protobuf.FileOptions`, such as
    /// `go_package`.
    pub fn string_option(self, name: &str) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.as_text(options.find_own(name))
    }

    /// The option `go_package`.
    pub fn go_package(self) -> Option<(&'t str, Place)> {
        self.string_option("go_package")
    }

    /// The option `java_package`.
    pub fn java_package(self) -> Option<(&'t str, Place)> {
        self.string_option("java_package")
    }

    /// The last part of its path, without `.proto`.
    pub fn stem(self) -> &'t str {
        let base = self.path().rsplit('/').next().unwrap_or_default();
        base.strip_suffix(".protodevel").or(base.strip_suffix(".proto")).unwrap_or(base)
    }

    /// The name of its Java class if no option names it, in editions before 2024: that of the file,
    /// with `OuterClass` behind it if a type in the file has that name. Source:
    /// `GetFileDefaultImmutableClassName` of the Java generator.
    pub fn default_java_outer_class(self) -> String {
        let name = to_camel_case(self.stem(), true);
        if self.decl().declares_type(&name) { format!("{name}OuterClass") } else { name }
    }

    /// Returns the place where the option `deprecated` of the file is set.
    pub fn deprecated(self) -> Option<Place> {
        let options = self.annotated();
        options.as_flag(options.find_own("deprecated"))
    }

    /// The comments at the option `deprecated` of the file.
    pub fn comments_at_deprecated(self) -> Vec<Comment> {
        self.annotated().comments_at_deprecated()
    }
}

/// The field of an element's descriptor that holds its options.
fn choose_options_field(element: Element<'_>) -> u32 {
    match element {
        Element::Message(_) => message::OPTIONS,
        Element::Field(_) => field::OPTIONS,
        Element::Oneof(_) => oneof::OPTIONS,
        Element::Enum(_) => enumeration::OPTIONS,
        Element::EnumValue(_) => descriptor_number::value::OPTIONS,
        Element::Service(_) => service::OPTIONS,
        Element::Method(_) => method::OPTIONS,
    }
}

impl<'t> Element<'t> {
    fn annotated(self) -> ElementOptions<'t> {
        let file = self.file();
        ElementOptions { tree: file.tree, file, element: Some(self) }
    }

    /// The element that encloses it; `None` for a top-level element.
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

    /// Returns the place where it is marked as work in progress: on the element itself, on one
    /// that encloses it, or on its file.
    pub fn work_in_progress(self) -> Option<Place> {
        let known = &self.file().tree.known;
        let can_say = known.declare(POLICIES) || known.declare(STATUSES);
        let mut next = can_say.then_some(self);
        while let Some(element) = next {
            let options = element.annotated();
            for annotations in [POLICIES, STATUSES] {
                let entry = options.find_field(annotations, "work_in_progress");
                if let Some(place) = options.as_flag(entry) {
                    return Some(place);
                }
            }
            next = element.parent();
        }
        self.file().work_in_progress()
    }

    /// Returns the place where its option `deprecated` is set.
    pub fn deprecated(self) -> Option<Place> {
        let options = self.annotated();
        options.as_flag(options.find_own("deprecated"))
    }

    /// The comments at its option `deprecated`, not those of the element itself.
    pub fn comments_at_deprecated(self) -> Vec<Comment> {
        self.annotated().comments_at_deprecated()
    }

    /// The version in which it was deprecated.
    pub fn deprecated_since(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.as_text(options.find_field(POLICIES, "deprecated_at")).or_else(|| {
            let envoy = [Annotation::EnvoyDeprecatedAt, Annotation::EnvoyDeprecatedAtEnum];
            options.as_text(options.find_any(&envoy))
        })
    }

    /// Returns the place where it is marked as refused unless an operator allows it.
    pub fn disallowed_by_default(self) -> Option<Place> {
        let options = self.annotated();
        options.as_flag(options.find_field(POLICIES, "disallowed_by_default")).or_else(|| {
            let envoy = [Annotation::EnvoyDisallowed, Annotation::EnvoyDisallowedEnum];
            options.as_flag(options.find_any(&envoy))
        })
    }

    /// The full or simple name of its replacement.
    pub fn replaced_by(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.as_text(options.find_field(POLICIES, "replaced_by"))
    }

    /// Returns the place where it is marked as an addition to a candidate.
    pub fn next_major_only(self) -> Option<Place> {
        let options = self.annotated();
        options.as_flag(options.find_field(POLICIES, "next_major_only"))
    }

    /// Returns the reason why its values get lost in the next major version.
    pub fn lossy(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.as_text(options.find_field(POLICIES, "lossy"))
    }

    /// Collects its changes in the next major version, with the places that declare them.
    pub fn migrations(self) -> Vec<(Migration<'t>, Place)> {
        let options = self.annotated();
        let ours =
            options.find_field(POLICIES, "migration").and_then(|entry| entry.value.as_message());
        let theirs = options.find_any(MIGRATIONS).and_then(|entry| entry.value.as_message());
        let mut migrations = Vec::new();
        for message in ours.into_iter().chain(theirs) {
            for entry in &message.entries {
                let Some((text, place)) = options.as_text(Some(entry)) else { continue };
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

    /// Returns the requirements of validation on it; for fields and oneofs.
    pub fn validation(self) -> Option<Validation> {
        let options = self.annotated();
        let tree = options.tree;
        let rules = [
            Annotation::ValidateRules,
            Annotation::ValidateRequired,
            Annotation::BufValidateField,
            Annotation::BufValidateOneof,
        ];
        let entry = options.find_any(&rules)?;
        // `required` of the rules themselves or of those of one type.
        let find = |name: &str| {
            let rules = entry.value.as_message()?;
            let inner = rules.entries.iter().filter_map(|entry| entry.value.as_message());
            let mut all = std::iter::once(rules).chain(inner);
            all.find_map(|rules| options.as_flag(rules.get(tree, name)))
        };
        Some(Validation {
            place: options.key_place(entry),
            defined_only: find("defined_only"),
            required: options.as_flag(Some(entry)).or_else(|| find("required")),
        })
    }
}

macro_rules! annotated {
    ($($view:ident)*) => {$(
        impl<'t> $view<'t> {
            fn annotated(self) -> ElementOptions<'t> {
                Element::$view(self).annotated()
            }
        }
    )*};
}

annotated!(Message Field Service Method);

impl<'t> Message<'t> {
    /// The full name of the type it was made from, in the previous major
    /// version.
    pub fn previous_type(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        let versioning = [Annotation::UdpaVersioning, Annotation::XdsVersioning];
        options.as_text(options.find_field(&versioning, "previous_message_type")).or_else(|| {
            options.as_text(options.find_field(&[Annotation::AbideMessage], "previous_type"))
        })
    }

    /// The type of the resource it describes, from `google.api.resource`.
    pub fn resource_type(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        options.as_text(options.find_field(&[Annotation::GoogleResource], "type"))
    }
}

impl<'t> Field<'t> {
    /// Returns the place where its values are marked as sensitive.
    pub fn sensitive(self) -> Option<Place> {
        let options = self.annotated();
        options.as_flag(options.find_any(&[Annotation::UdpaSensitive, Annotation::XdsSensitive]))
    }

    /// The place of the annotation `security` of udpa or xds.
    pub fn security(self) -> Option<Place> {
        let options = self.annotated();
        let entry = options.find_any(&[Annotation::UdpaSecurity, Annotation::XdsSecurity])?;
        Some(options.key_place(entry))
    }

    /// The type of the resource it names, from `google.api.resource_reference`.
    pub fn resource_reference(self) -> Option<(&'t str, Place)> {
        let options = self.annotated();
        let wanted = [Annotation::GoogleResourceReference];
        options
            .as_text(options.find_field(&wanted, "type"))
            .or_else(|| options.as_text(options.find_field(&wanted, "child_type")))
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
            Some((value.name(), options.key_place(entry)))
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
        options.as_text(options.find_field(&[Annotation::EnvoyResource], "type"))
    }
}

impl<'t> Method<'t> {
    /// The ways to call it over HTTP, additional bindings included.
    pub fn http_bindings(self) -> Vec<HttpBinding<'t>> {
        let options = self.annotated();
        let mut bindings = Vec::new();
        let rule = options.find_any(&[Annotation::GoogleHttp]).and_then(|it| it.value.as_message());
        if let Some(rule) = rule {
            bindings.extend(read_http_binding(options, rule));
            let tree = options.tree;
            for entry in &rule.entries {
                if tree.field(entry.field).name() == "additional_bindings"
                    && let Some(rule) = entry.value.as_message()
                {
                    bindings.extend(read_http_binding(options, rule));
                }
            }
        }
        bindings
    }
}

fn read_http_binding<'t>(
    options: ElementOptions<'t>,
    rule: &'t value::Message,
) -> Option<HttpBinding<'t>> {
    let tree = options.tree;
    let text = |name| rule.get_str(tree, name).filter(|text| !text.is_empty());
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
                (custom.get_str(tree, "kind")?, custom.get(tree, "path")?)
            }
            _ => return None,
        };
        let place = options.find_value_place(path);
        Some(HttpBinding { method, path: path.value.as_str()?, body, response_body, place })
    })
}
