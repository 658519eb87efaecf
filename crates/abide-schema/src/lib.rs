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
    FieldExtras, FileDecl, FileOrigin, FileText, ImportDecl, LocalProblem, MAX_FIELD_NUMBER,
    MessageDecl, MessageKind, MethodDecl, Name, Node, OneofDecl, PackageDecl, Parent, Part,
    RangeDecl, RawOptions, ReservedNameDecl, Scalar, ServiceDecl, SourceFile, StringTable,
    SyntaxDecl, TypeDecl,
};
pub use descriptor::{
    EmbeddedFiles, encode_file, encode_pieces, encode_set, read_descriptor_set_json,
    read_descriptor_set_text, read_descriptor_set_value, set_files,
};
pub use glob::{Glob, GlobIndex};
pub use graph::{
    BitRow, ChainDepth, DependencyEvidence, DependencyGraph, DependencyLevel, DependencyStep,
    LevelCounts, PackageDependency, ReachTable, StepFinder,
};
pub use ids::{
    EnumId, EnumValueId, FieldId, FileId, MessageId, MethodId, OneofId, PackageId, ServiceId,
};
pub use link::{KnownSource, find_known_repository, find_known_source, find_missing_imports};
pub use mentions::{Mention, MentionTarget};
pub use problem::{Place, Problem, ProblemKind};
pub use protobuf::{
    Edition, WireError, annotation_files, built_in_paths, default_json_name, find_well_known,
    is_built_in, to_camel_case, well_known_paths,
};
pub use tree::{
    Cardinality, DefaultVisibility, Element, Enum, EnumValue, FEATURES, FeatureRow, FeatureSource,
    Features, Field, File, HttpBinding, Import, Message, Method, Migration, NamingStyle,
    NumberRanges, Oneof, Openness, Package, PackageVersion, PackageVersionStatus, Presence,
    ResolvedFeature, Service, Stability, Tree, Type, Validation, format_api_name,
};
pub use workspace::{
    ChangedFile, FileKey, Outline, OutlinedFile, TreeNames, TreeSides, TreeSlice, Workspace,
    WorkspaceChanges,
};
