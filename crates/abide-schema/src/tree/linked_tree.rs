//! The parts of a linked tree, as the stages of linking fill them. The views
//! over it are in [`view`](crate::tree::view).

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use abide_syntax::Slice;
use rustc_hash::FxHashMap;

use crate::decl::{FileDecl, Scalar};
use crate::dynamic as value;
use crate::ids::{EnumId, FileId, MessageId, PackageId};
use crate::problem::Problem;
use crate::tree::annotations::KnownAnnotations;
use crate::tree::features::Features;
use crate::tree::package_version::PackageVersion;
use crate::tree::tables::{ExtensionDeclarations, FullNames, LargeTypeIndex, MentionTable};

/// A linked, immutable proto tree.
#[derive(Debug)]
pub struct Tree {
    pub(crate) files: Vec<Arc<LinkedFile>>,
    pub(crate) packages: Vec<PackageData>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) known: KnownAnnotations,
    pub(crate) public_importers: Vec<FileId>,
    /// The names of the packages with a file that does not parse, in this tree or in the one
    /// that it was linked beside. They need not be in this tree.
    pub(crate) unknown_packages: BTreeSet<Box<str>>,
    pub(crate) repeats_names: bool,
    /// The files that are there only because others import them, by index, where that is not what
    /// the files say themselves.
    pub(crate) imported: Option<Box<[bool]>>,
    pub(crate) full_names: FullNames,
    pub(crate) mentions: OnceLock<MentionTable>,
}

/// A file and what linking found out about it.
#[derive(Debug)]
pub(crate) struct LinkedFile {
    pub(crate) decl: Arc<FileDecl>,
    /// True if it has fewer options than its text, to be compared with a descriptor set.
    pub(crate) is_reduced: bool,
    pub(crate) package: PackageId,
    pub(crate) imports: Vec<ImportLink>,
    pub(crate) features: Features,
    pub(crate) options: Option<Box<value::Message>>,
    pub(crate) messages: Vec<MessageLink>,
    pub(crate) fields: Vec<FieldLink>,
    pub(crate) oneofs: Vec<OptionsLink>,
    pub(crate) enums: Vec<EnumLink>,
    pub(crate) values: Vec<OptionsLink>,
    pub(crate) services: Vec<OptionsLink>,
    pub(crate) methods: Vec<MethodLink>,
    pub(crate) ranges: Vec<OptionsLink>,
    pub(crate) long_lists: OnceLock<Box<LargeTypeIndex>>,
    /// Of the extension ranges that have options, by their indices.
    pub(crate) declarations: OnceLock<FxHashMap<usize, ExtensionDeclarations>>,
}

impl Tree {
    /// This tree with other files in the places of its own: each with the same elements.
    pub(crate) fn with_files(&self, files: Vec<Arc<LinkedFile>>) -> Tree {
        Tree {
            files,
            packages: self.packages.clone(),
            problems: self.problems.clone(),
            known: self.known.clone(),
            public_importers: self.public_importers.clone(),
            repeats_names: self.repeats_names,
            imported: self.imported.clone(),
            unknown_packages: self.unknown_packages.clone(),
            full_names: Default::default(),
            mentions: Default::default(),
        }
    }
}

impl LinkedFile {
    /// A file that says the same, to be changed.
    pub(crate) fn copy(&self) -> LinkedFile {
        LinkedFile {
            decl: Arc::clone(&self.decl),
            is_reduced: self.is_reduced,
            package: self.package,
            imports: self.imports.clone(),
            features: self.features,
            options: self.options.clone(),
            messages: self.messages.clone(),
            fields: self.fields.clone(),
            oneofs: self.oneofs.clone(),
            enums: self.enums.clone(),
            values: self.values.clone(),
            services: self.services.clone(),
            methods: self.methods.clone(),
            ranges: self.ranges.clone(),
            long_lists: OnceLock::new(),
            declarations: OnceLock::new(),
        }
    }
}

/// Interpreted options; `None` where the element has none.
pub(crate) type OptionsLink = Option<Box<value::Message>>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ImportLink {
    /// The imported file, where it exists.
    pub(crate) file: Option<FileId>,
    /// True if a name or option of this file needs it.
    pub(crate) used: bool,
    /// Of an import that was not found, or that leads to a file that does not parse, how many
    /// uses of names it may declare.
    pub(crate) unknown_uses: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MessageLink {
    pub(crate) features: Features,
    pub(crate) options: OptionsLink,
}

#[derive(Clone, Debug)]
pub(crate) struct FieldLink {
    pub(crate) ty: Type,
    pub(crate) extendee: Option<MessageId>,
    pub(crate) features: Features,
    pub(crate) options: OptionsLink,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct EnumLink {
    pub(crate) features: Features,
    pub(crate) options: OptionsLink,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MethodLink {
    pub(crate) input: Option<MessageId>,
    pub(crate) output: Option<MessageId>,
    pub(crate) options: OptionsLink,
}

/// All files with one package name.
#[derive(Clone, Debug)]
pub(crate) struct PackageData {
    pub(crate) name: String,
    pub(crate) version: Option<PackageVersion>,
    pub(crate) files: Vec<FileId>,
    /// True if it has, or may have, a file that does not parse.
    pub(crate) is_unknown: bool,
}

/// The resolved type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// A message; for a map field its entry.
    Message(MessageId),
    /// An enum.
    Enum(EnumId),
    /// A name that resolved to nothing; a [`Problem`] says so.
    Unresolved,
}

impl Tree {
    /// Returns the problems that protoc would refuse or warn about, in the order of files and
    /// places. Problems of imported files are included.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The packages that are not judged, because one of their files does not parse, in this tree or
    /// in the one that it was linked beside; in the order of their names. Some may have no file in
    /// this tree. A file that lost its package statement may have any, or none (the empty name).
    pub fn unknown_packages(&self) -> impl ExactSizeIterator<Item = &str> {
        self.unknown_packages.iter().map(|it| &**it)
    }

    #[inline]
    pub(crate) fn linked(&self, id: FileId) -> &LinkedFile {
        &self.files[id.0 as usize]
    }
}

pub(crate) fn indices(slice: Slice) -> std::ops::Range<u32> {
    slice.start..slice.end
}
