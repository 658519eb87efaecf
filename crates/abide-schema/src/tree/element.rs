//! Any element of a file, and what all elements have.

use abide_syntax::Visibility;

use crate::decl::{MAX_FIELD_NUMBER, Node, Part, RawOptions};
use crate::dynamic as value;
use crate::ids::ElementId;
use crate::problem::Place;
use crate::tree::Tree;
use crate::tree::features::{DefaultVisibility, Features};
use crate::tree::view::{Enum, EnumValue, Field, File, Message, Method, Oneof, Package, Service};

/// Any element of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is named as the view it holds")]
pub enum Element<'t> {
    Message(Message<'t>),
    Field(Field<'t>),
    Oneof(Oneof<'t>),
    Enum(Enum<'t>),
    EnumValue(EnumValue<'t>),
    Service(Service<'t>),
    Method(Method<'t>),
}

macro_rules! each_element {
    ($self:ident, $it:ident => $body:expr) => {
        match $self {
            Element::Message($it) => $body,
            Element::Field($it) => $body,
            Element::Oneof($it) => $body,
            Element::Enum($it) => $body,
            Element::EnumValue($it) => $body,
            Element::Service($it) => $body,
            Element::Method($it) => $body,
        }
    };
}

impl Tree {
    pub(crate) fn element(&self, id: ElementId) -> Element<'_> {
        match id {
            ElementId::Message(id) => Element::Message(self.message(id)),
            ElementId::Field(id) => Element::Field(self.field(id)),
            ElementId::Oneof(id) => Element::Oneof(Oneof { tree: self, id }),
            ElementId::Enum(id) => Element::Enum(self.enumeration(id)),
            ElementId::EnumValue(id) => Element::EnumValue(EnumValue { tree: self, id }),
            ElementId::Service(id) => Element::Service(Service { tree: self, id }),
            ElementId::Method(id) => Element::Method(Method { tree: self, id }),
        }
    }
}

impl<'t> Element<'t> {
    pub(crate) fn id(self) -> ElementId {
        match self {
            Element::Message(it) => ElementId::Message(it.id),
            Element::Field(it) => ElementId::Field(it.id),
            Element::Oneof(it) => ElementId::Oneof(it.id),
            Element::Enum(it) => ElementId::Enum(it.id),
            Element::EnumValue(it) => ElementId::EnumValue(it.id),
            Element::Service(it) => ElementId::Service(it.id),
            Element::Method(it) => ElementId::Method(it.id),
        }
    }

    /// Its simple name.
    pub fn name(self) -> &'t str {
        each_element!(self, it => it.name())
    }

    /// Its full name, without a leading dot.
    pub fn full_name(self) -> String {
        each_element!(self, it => it.full_name())
    }

    /// The file that declares it.
    pub fn file(self) -> File<'t> {
        each_element!(self, it => it.file())
    }

    /// The package of its file.
    pub fn package(self) -> Package<'t> {
        self.file().package()
    }

    /// Its full name without that of its package.
    pub fn relative_name(self) -> String {
        each_element!(self, it => it.relative_name())
    }

    /// Returns the place of a part of it.
    pub fn place(self, part: Part) -> Place {
        each_element!(self, it => it.place(part))
    }

    /// Returns its declaration.
    pub fn node(self) -> Node {
        each_element!(self, it => it.decl().node)
    }

    /// Its interpreted options.
    pub fn options(self) -> Option<&'t value::Message> {
        each_element!(self, it => it.options())
    }

    /// Its options, not interpreted.
    pub(crate) fn raw_options(self) -> RawOptions {
        each_element!(self, it => it.decl().options)
    }

    /// `export` or `local`, as it is written at a type.
    pub fn visibility(self) -> Option<Visibility> {
        match self {
            Element::Message(it) => it.visibility(),
            Element::Enum(it) => it.decl().visibility,
            _ => None,
        }
    }

    /// Returns true if other files may use a type. Where nothing is written at it, the
    /// feature `default_symbol_visibility` of its file decides.
    pub fn is_exported(self) -> bool {
        if let Some(visibility) = self.visibility() {
            return visibility == Visibility::Export;
        }
        let file = self.file();
        let default = match file.features().default_visibility {
            // The default of the edition is likely.
            DefaultVisibility::Unknown => {
                Features::from_edition(file.decl().edition).default_visibility
            }
            known => known,
        };
        match default {
            DefaultVisibility::ExportAll => true,
            DefaultVisibility::ExportTopLevel | DefaultVisibility::Unknown => {
                self.parent().is_none()
            }
            DefaultVisibility::LocalAll | DefaultVisibility::Strict => false,
        }
    }

    /// Returns true if a type may be marked as exported. Under `STRICT` visibility, nothing nested
    /// may, except the enums of a local message that has nothing else. Source: `SymbolChecker` of
    /// protobuf.
    pub fn may_be_exported(self) -> bool {
        let Some(Element::Message(parent)) = self.parent() else { return true };
        let visibility = match self {
            Element::Message(it) => it.features().default_visibility,
            Element::Enum(it) => it.features().default_visibility,
            _ => self.file().features().default_visibility,
        };
        visibility != DefaultVisibility::Strict
            || matches!(self, Element::Enum(_)) && is_namespace(parent)
    }

    /// Returns true if it is known if other files may use a type: descriptor sets leave out the
    /// feature that decides where nothing is written at it.
    pub fn has_known_visibility(self) -> bool {
        self.visibility().is_some()
            || self.file().features().default_visibility != DefaultVisibility::Unknown
    }

    /// The noun for it in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Element::Message(_) => "message",
            Element::Field(field) if field.is_extension() => "extension",
            Element::Field(_) => "field",
            Element::Oneof(_) => "oneof",
            Element::Enum(_) => "enum",
            Element::EnumValue(_) => "enum value",
            Element::Service(_) => "service",
            Element::Method(_) => "method",
        }
    }
}

impl<'t> File<'t> {
    /// Every element, in the order of kinds and declarations.
    pub fn elements(self) -> impl Iterator<Item = Element<'t>> {
        let messages = self.all_messages().flat_map(|message| {
            std::iter::once(Element::Message(message))
                .chain(message.fields().map(Element::Field))
                .chain(message.oneofs().map(Element::Oneof))
                .chain(message.extensions().map(Element::Field))
        });
        let enums = self.all_enums().flat_map(|it| {
            std::iter::once(Element::Enum(it)).chain(it.values().map(Element::EnumValue))
        });
        let services = self.services().flat_map(|service| {
            std::iter::once(Element::Service(service)).chain(service.methods().map(Element::Method))
        });
        messages.chain(enums).chain(self.extensions().map(Element::Field)).chain(services)
    }
}

/// Returns true if a message only holds enums: it is local, and every number is
/// reserved.
fn is_namespace(message: Message<'_>) -> bool {
    let all_reserved = match message.reserved_ranges() {
        [range] => range.start == 1 && range.end == MAX_FIELD_NUMBER + 1,
        _ => false,
    };
    message.parent().is_none() && !Element::Message(message).is_exported() && all_reserved
}
