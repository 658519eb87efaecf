//! A linked, immutable model of a proto tree, and nothing about rules.
//!
//! [`Tree::link`] takes the declarations of many files, read from source text
//! ([`FileDecl::parse`]) or from a FileDescriptorSet, and resolves names,
//! features and options by protoc's rules. It never fails: what protoc would
//! refuse becomes a [`Problem`] with its place, and the rest of the tree is
//! still there.

mod annotated;
mod annotation;
mod claims;
mod comments;
mod decl;
mod descriptor;
mod descriptor_number;
mod dynamic;
mod edition;
mod element;
mod features;
mod float;
mod glob;
mod graph;
mod ids;
mod json_name;
mod link;
mod locations;
mod lookup;
mod lower;
mod mention;
mod near;
mod outline;
mod part;
mod problem;
mod reserved;
mod resolve;
mod slice;
mod stripped;
mod symbol;
mod tables;
mod tree;
mod validate;
pub mod value;
mod version;
mod view;
mod wellknown;
mod wire;
mod workspace;

pub use annotation::{HttpBinding, Migration, PackageVersionStatus, Validation};
pub use comments::{AttachedComments, Comment};
pub use decl::{
    EnumDecl, EnumValueDecl, FieldDecl, FieldExtras, FileDecl, ImportDecl, LocalProblem,
    MAX_FIELD_NUMBER, MessageDecl, MessageKind, MethodDecl, Name, Node, OneofDecl, Origin,
    PackageDecl, Parent, Part, RangeDecl, RawOptions, ReservedNameDecl, Scalar, ServiceDecl,
    SourceFile, Strings, SyntaxDecl, Text, TypeDecl,
};
pub use descriptor::{
    EmbeddedFiles, descriptor_set_from_json, descriptor_set_from_text, descriptor_set_from_value,
    encode_file, encode_pieces, encode_set, set_files,
};
pub use edition::Edition;
pub use element::Element;
pub use features::{DefaultVisibility, Features, Openness, Presence};
pub use glob::{Glob, GlobIndex};
pub use graph::{Counts, Dependency, Depth, Graph, Level, Reach, Step, Steps, Strip, Use};
pub use ids::{
    EnumId, EnumValueId, FieldId, FileId, MessageId, MethodId, OneofId, PackageId, ServiceId,
};
pub use json_name::default_json_name;
pub use link::{known_repository, missing_imports};
pub use locations::DescriptorLocations;
pub use mention::{Meaning, Mention};
pub use outline::Outline;
pub use problem::{Place, Problem, ProblemKind};
pub use reserved::Ranges;
pub use slice::{Claimed, OutlinedFile, Slice};
pub use tree::{Tree, Type};
pub use version::{PackageVersion, Stability, api_name};
pub use view::{
    Cardinality, Enum, EnumValue, Field, File, Import, Message, Method, Oneof, Package, Service,
};
pub use wellknown::{well_known, well_known_paths};
pub use wire::WireError;
pub use workspace::{ChangedFile, Changes, FileKey, Sides, Workspace};
