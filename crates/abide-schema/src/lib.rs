//! A linked, immutable model of a proto tree, and nothing about rules.
//!
//! [`Tree::link`] takes the declarations of many files, read from source text
//! ([`FileDecl::parse`]) or from a FileDescriptorSet, and resolves names,
//! features and options by protoc's rules. It never fails: what protoc would
//! refuse becomes a [`Problem`] with its place, and the rest of the tree is
//! still there.

mod decl;
mod descriptor;
mod dynamic;
mod glob;
mod graph;
mod ids;
mod link;
mod lower;
mod mentions;
mod problem;
mod protobuf;
mod tree;
pub mod value;
mod workspace;

pub use decl::{
    AttachedComments, Comment, DescriptorLocations, EnumDecl, EnumValueDecl, FieldDecl,
    FieldExtras, FileDecl, ImportDecl, LocalProblem, MAX_FIELD_NUMBER, MessageDecl, MessageKind,
    MethodDecl, Name, Node, OneofDecl, Origin, PackageDecl, Parent, Part, RangeDecl, RawOptions,
    ReservedNameDecl, Scalar, ServiceDecl, SourceFile, Strings, SyntaxDecl, Text, TypeDecl,
};
pub use descriptor::{
    EmbeddedFiles, descriptor_set_from_json, descriptor_set_from_text, descriptor_set_from_value,
    encode_file, encode_pieces, encode_set, set_files,
};
pub use glob::{Glob, GlobIndex};
pub use graph::{Counts, Dependency, Depth, Graph, Level, Reach, Step, Steps, Strip, Use};
pub use ids::{
    EnumId, EnumValueId, FieldId, FileId, MessageId, MethodId, OneofId, PackageId, ServiceId,
};
pub use link::{known_repository, missing_imports};
pub use mentions::{Meaning, Mention};
pub use problem::{Place, Problem, ProblemKind};
pub use protobuf::{Edition, WireError, default_json_name, well_known, well_known_paths};
pub use tree::{
    Cardinality, DefaultVisibility, Element, Enum, EnumValue, Features, Field, File, HttpBinding,
    Import, Message, Method, Migration, Oneof, Openness, Package, PackageVersion,
    PackageVersionStatus, Presence, Ranges, Service, Stability, Tree, Type, Validation, api_name,
};
pub use workspace::{
    ChangedFile, Changes, Claimed, FileKey, Outline, OutlinedFile, Sides, Slice, Workspace,
};
