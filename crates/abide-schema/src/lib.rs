//! A linked, immutable model of a proto tree, and nothing about rules.
//!
//! [`Tree::link`] takes the declarations of many files, read from source text
//! ([`FileDecl::parse`]) or from a FileDescriptorSet, and resolves names,
//! features and options by protoc's rules. It never fails: what protoc would
//! refuse becomes a [`Problem`] with its place, and the rest of the tree is
//! still there.

mod annotation;
mod comments;
mod decl;
mod descriptor;
mod edition;
mod features;
mod glob;
mod graph;
mod ids;
mod link;
mod locations;
mod lower;
mod options;
mod problem;
mod reserved;
mod source_info;
mod symbol;
mod tree;
mod validate;
pub mod value;
mod version;
mod wellknown;
mod wire;

pub use annotation::{HttpBinding, Migration, PackageVersionStatus, Validation};
pub use comments::{AttachedComments, Comment, Gap, Run};
pub use decl::{
    EnumDecl, EnumValueDecl, FieldDecl, FieldExtras, FileDecl, ImportDecl, LocalProblem,
    MessageDecl, MessageKind, MethodDecl, Name, Node, OneofDecl, Origin, PackageDecl, Parent, Part,
    RangeDecl, RawOptions, ReservedNameDecl, Scalar, ServiceDecl, SourceFile, Strings, SyntaxDecl,
    Text, TypeDecl,
};
pub use descriptor::{
    descriptor_set_from_json, descriptor_set_from_text, encode_file, encode_set, set_files,
};
pub use edition::Edition;
pub use features::{DefaultVisibility, Features, Openness};
pub use glob::Glob;
pub use graph::{Counts, Dependency, Depth, Graph, Level, Reach, Step, Use};
pub use ids::{
    EnumId, EnumValueId, FieldId, FileId, MessageId, MethodId, OneofId, PackageId, ServiceId,
};
pub use link::missing_imports;
pub use locations::DescriptorLocations;
pub use lower::MAX_FIELD_NUMBER;
pub use problem::{Place, Problem, ProblemKind};
pub use reserved::Ranges;
pub use tree::{
    Cardinality, Element, Enum, EnumValue, Field, File, Import, Message, Method, Oneof, Package,
    Presence, Service, Tree, Type, default_json_name,
};
pub use version::{PackageVersion, Stability, api_name};
pub use wellknown::{well_known, well_known_paths};
pub use wire::WireError;
