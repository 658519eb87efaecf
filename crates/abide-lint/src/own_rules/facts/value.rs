//! Elements as values of expressions.

use std::rc::Rc;

use abide_schema::{
    Element, Enum, EnumValue, Field, File, Message, Method, Oneof, Package, Service,
};
use abide_validate::cel::{CelValue, HostType, HostValue};

use super::elements;
use super::usage::FactTree;

/// What facts are about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FactSubject<'t> {
    File(File<'t>),
    Package(Package<'t>),
    Message(Message<'t>),
    Field(Field<'t>),
    Oneof(Oneof<'t>),
    Enum(Enum<'t>),
    EnumValue(EnumValue<'t>),
    Service(Service<'t>),
    Method(Method<'t>),
}

impl<'t> From<Element<'t>> for FactSubject<'t> {
    fn from(element: Element<'t>) -> Self {
        match element {
            Element::Message(it) => FactSubject::Message(it),
            Element::Field(it) => FactSubject::Field(it),
            Element::Oneof(it) => FactSubject::Oneof(it),
            Element::Enum(it) => FactSubject::Enum(it),
            Element::EnumValue(it) => FactSubject::EnumValue(it),
            Element::Service(it) => FactSubject::Service(it),
            Element::Method(it) => FactSubject::Method(it),
        }
    }
}

/// An element with its tree.
#[derive(Debug)]
struct Facts<'t> {
    of: FactSubject<'t>,
    tree: &'t FactTree<'t>,
}

impl<'t> FactSubject<'t> {
    /// Returns it as a value of expressions.
    pub(crate) fn into_value(self, tree: &'t FactTree<'t>) -> CelValue<'t> {
        CelValue::Host(Rc::new(Facts { of: self, tree }))
    }

    /// Its full name; for a file its path.
    pub(crate) fn full_name(self) -> String {
        match self {
            FactSubject::File(it) => it.full_name(),
            FactSubject::Package(it) => it.full_name(),
            FactSubject::Message(it) => it.full_name(),
            FactSubject::Field(it) => it.full_name(),
            FactSubject::Oneof(it) => it.full_name(),
            FactSubject::Enum(it) => it.full_name(),
            FactSubject::EnumValue(it) => it.full_name(),
            FactSubject::Service(it) => it.full_name(),
            FactSubject::Method(it) => it.full_name(),
        }
    }
}

impl<'t> HostValue<'t> for Facts<'t> {
    fn host_type(&self) -> &'static HostType {
        match self.of {
            FactSubject::File(_) => &elements::FILE,
            FactSubject::Package(_) => &elements::PACKAGE,
            FactSubject::Message(_) => &elements::MESSAGE,
            FactSubject::Field(_) => &elements::FIELD,
            FactSubject::Oneof(_) => &elements::ONEOF,
            FactSubject::Enum(_) => &elements::ENUM,
            FactSubject::EnumValue(_) => &elements::ENUM_VALUE,
            FactSubject::Service(_) => &elements::SERVICE,
            FactSubject::Method(_) => &elements::METHOD,
        }
    }

    fn find_member(&self, name: &str) -> Option<CelValue<'t>> {
        match self.of {
            FactSubject::File(it) => elements::read_file(it, self.tree, name),
            FactSubject::Package(it) => elements::read_package(it, self.tree, name),
            FactSubject::Message(it) => elements::read_message(it, self.tree, name),
            FactSubject::Field(it) => elements::read_field(it, self.tree, name),
            FactSubject::Oneof(it) => elements::read_oneof(it, self.tree, name),
            FactSubject::Enum(it) => elements::read_enum(it, self.tree, name),
            FactSubject::EnumValue(it) => elements::read_enum_value(it, self.tree, name),
            FactSubject::Service(it) => elements::read_service(it, self.tree, name),
            FactSubject::Method(it) => elements::read_method(it, self.tree, name),
        }
    }

    fn identity(&self) -> String {
        self.of.full_name()
    }
}
