//! Contents of sources.

use std::fmt::Display;

use abide_schema::SourceFile;

use super::failure::ReadProblem;

/// The name of the configuration.
pub const CONFIG: &str = "abide.toml";
/// The name of the file of accepted findings.
pub const ACCEPTED: &str = "abide.accepted";
/// The name of the file that records versions.
pub const LOCK: &str = "abide.lock";
/// The name of the file that says who owns which file of a repository.
pub const OWNERS: &str = "CODEOWNERS";

/// The contents of a [`Source`](super::Source).
pub enum Contents {
    /// The files of a proto tree.
    Files {
        /// Every judged file, sorted by root and path.
        files: Vec<SourceFile>,
        /// The files that could not be read, sorted by path; the rest is judged.
        problems: Vec<ReadProblem>,
        /// Notes for the user about the reading of the tree, one phrase each.
        notes: Vec<String>,
    },
    /// A serialized `FileDescriptorSet` (descriptor.proto), decompressed.
    DescriptorSet {
        /// The serialized set.
        bytes: Vec<u8>,
        /// The encoding of the set.
        format: DescriptorFormat,
        /// Notes for the user about what the set lacks, one phrase each.
        notes: Vec<String>,
    },
}

/// The encoding of a descriptor set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorFormat {
    /// The protobuf wire format.
    Binary,
    /// ProtoJSON.
    Json,
    /// The protobuf text format.
    Text,
    /// ProtoJSON, written as YAML.
    Yaml,
}

/// The result of a walk.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) files: Vec<SourceFile>,
    pub(super) problems: Vec<ReadProblem>,
    pub(super) notes: Vec<String>,
}

impl Gathered {
    pub(super) fn problem(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        let (path, reason) = (path.into(), reason.into());
        self.problems.push(ReadProblem { path, reason, is_lost: false });
    }

    /// Notes a file or folder whose object is missing.
    pub(super) fn lost(&mut self, path: impl Into<String>, missing: impl Display) {
        let (path, reason) = (path.into(), missing.to_string());
        self.problems.push(ReadProblem { path, reason, is_lost: true });
    }
}
