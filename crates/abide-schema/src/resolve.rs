//! What a name means at a place of a file.

use std::sync::Arc;

use abide_syntax::ImportKind;

use crate::decl::{FileDecl, Parent};
use crate::ids::{FileId, MessageId};
use crate::problem::import_advice;
use crate::symbol::{NotFound, PackageNode, Scope, Symbol, Symbols, Visible, Wanted};

/// The context for resolving the names of a file.
pub(crate) struct NameResolver<'a> {
    pub(crate) files: &'a [Arc<FileDecl>],
    pub(crate) nodes: &'a [PackageNode],
    pub(crate) symbols: &'a Symbols<'a>,
    pub(crate) visible: &'a [Visible],
    /// By file, whether importing it may give names that nobody could read; empty if every file
    /// parses.
    pub(crate) unreadable: &'a [bool],
}

/// A symbol of a file that another one does not see.
#[derive(Clone, Copy)]
struct Elsewhere {
    symbol: Symbol,
    file: FileId,
}

impl NameResolver<'_> {
    /// The scopes a name is looked up in, from the innermost to the root.
    pub(crate) fn scopes(&self, file: FileId, parent: Parent) -> impl Iterator<Item = Scope> {
        let decl = &self.files[file.0 as usize];
        let messages = std::iter::successors(message_of(parent), |&index| {
            message_of(decl.messages[index as usize].parent)
        });
        let packages = self.symbols.with_prefixes(self.nodes[file.0 as usize]);
        messages
            .map(move |index| Scope::Message(MessageId { file, index }))
            .chain(packages.map(Scope::Package))
    }

    /// Finds what a name means at a place of a file.
    pub(crate) fn resolve(
        &self,
        file: FileId,
        parent: Parent,
        name: &str,
        wanted: Wanted,
    ) -> Result<Symbol, NotFound> {
        self.resolve_as(file, (file, parent), name, wanted)
    }

    /// Finds what a name means in a scope, which may be in another file. Only
    /// elements that `file` sees count.
    pub(crate) fn resolve_as(
        &self,
        file: FileId,
        (scope_file, parent): (FileId, Parent),
        name: &str,
        wanted: Wanted,
    ) -> Result<Symbol, NotFound> {
        let scopes = self.scopes(scope_file, parent);
        self.symbols.resolve(scopes, name, wanted, &self.visible[file.0 as usize])
    }

    /// The innermost scope that could hold the first component of a name: a
    /// message that declares it, or the file.
    pub(crate) fn nearest_scope(&self, file: FileId, mut parent: Parent, first: &str) -> Parent {
        while let Parent::Message(index) = parent {
            let scope = Scope::Message(MessageId { file, index });
            if self.symbols.all(scope, first).next().is_some() {
                break;
            }
            parent = self.files[file.0 as usize].messages[index as usize].parent;
        }
        parent
    }

    /// Why a name was not found at a place of a file, and what to do.
    pub(crate) fn not_found(
        &self,
        file: FileId,
        parent: Parent,
        name: &str,
        reason: &NotFound,
    ) -> (String, Option<String>) {
        let scopes = || self.scopes(file, parent);
        if let NotFound::InnerScope { found } = reason {
            let first = name.split('.').next().unwrap_or(name);
            let inner = match found {
                Symbol::Package(node) => {
                    format!("the package `{}`", self.symbols.package_name(*node))
                }
                symbol => format!("the {} `{}`", symbol.noun(), self.full_name(*symbol)),
            };
            let message =
                format!("`{name}` was not found: `{first}` is {inner}, which does not have it");
            let absolute = format!(".{name}");
            let root = Scope::Package(PackageNode::ROOT);
            let is_visible = self.resolve(file, Parent::File, &absolute, Wanted::Any).is_ok();
            let help = match self.elsewhere(file, [root], &absolute) {
                // What is looked up from the outermost scope anyhow is found by its import alone.
                Some(it) if self.is_outermost(found) => Some(self.advice(file, parent, it)),
                _ if is_visible => {
                    Some(format!("write `{absolute}` to look it up from the outermost scope"))
                }
                Some(it) => {
                    Some(format!("{} and write `{absolute}`", self.advice(file, parent, it)))
                }
                None => None,
            };
            // What the scope itself lacks may be in a file that is not imported.
            let nearer = || self.elsewhere(file, scopes(), name);
            let help = help.or_else(|| nearer().map(|it| self.advice(file, parent, it)));
            return (message, help);
        }
        let Some(other) = self.elsewhere(file, scopes(), name) else {
            return (format!("`{name}` was not found"), None);
        };
        let message = match (self.is_imported_for_options(file, other.file), other.symbol) {
            (true, Symbol::Extension(_)) => format!("`{name}` was not found"),
            (true, _) => {
                format!("`{name}` is declared in a file that is imported for options alone")
            }
            (false, _) => format!("`{name}` is declared in a file that is not imported"),
        };
        (message, Some(self.advice(file, parent, other)))
    }

    /// What to write at a place of a file so that it sees what is declared elsewhere.
    fn advice(&self, file: FileId, parent: Parent, other: Elsewhere) -> String {
        let path = &*self.files[other.file.0 as usize].path;
        if !self.is_imported_for_options(file, other.file) {
            return import_advice(path);
        }
        if !matches!(other.symbol, Symbol::Extension(_)) {
            return format!("write `import \"{path}\";` without `option`");
        }
        let name = self.full_name(other.symbol);
        match self.resolve(file, parent, &name, Wanted::Any) {
            Ok(found) if found == other.symbol => format!("write its full name, `{name}`"),
            _ => format!("write its full name, `.{name}`"),
        }
    }

    /// Whether a file has an `import option` of another one.
    fn is_imported_for_options(&self, file: FileId, other: FileId) -> bool {
        let path = &self.files[other.0 as usize].path;
        let mut imports = self.files[file.0 as usize].imports.iter();
        imports.any(|it| it.kind == ImportKind::Option && *it.path == **path)
    }

    /// Whether a symbol is a package that is in no other.
    fn is_outermost(&self, symbol: &Symbol) -> bool {
        let Symbol::Package(node) = symbol else { return false };
        self.symbols.package_parent(*node) == Some(PackageNode::ROOT)
    }

    /// What declares a name in another file.
    fn elsewhere(
        &self,
        file: FileId,
        scopes: impl IntoIterator<Item = Scope>,
        name: &str,
    ) -> Option<Elsewhere> {
        let symbol = self.symbols.anywhere(scopes, name)?;
        let other = symbol.file().filter(|it| *it != file)?;
        Some(Elsewhere { symbol, file: other })
    }

    /// Whether a file is in a package or in one below it.
    pub(crate) fn is_in_package(&self, file: FileId, package: PackageNode) -> bool {
        let mut node = Some(self.nodes[file.0 as usize]);
        while let Some(at) = node {
            if at == package {
                return true;
            }
            node = self.symbols.package_parent(at);
        }
        false
    }

    /// The full name of a symbol, for messages.
    pub(crate) fn full_name(&self, symbol: Symbol) -> String {
        let (file, parent, name) = match symbol {
            Symbol::Package(_) => return String::new(),
            Symbol::Message(id) => {
                let item = &self.files[id.file.0 as usize].messages[id.index as usize];
                (id.file, item.parent, item.name)
            }
            Symbol::Enum(id) => {
                let item = &self.files[id.file.0 as usize].enums[id.index as usize];
                (id.file, item.parent, item.name)
            }
            Symbol::EnumValue(id) => {
                let decl = &self.files[id.file.0 as usize];
                let value = &decl.values[id.index as usize];
                (id.file, decl.enums[value.parent as usize].parent, value.name)
            }
            Symbol::Extension(id) => {
                let item = &self.files[id.file.0 as usize].fields[id.index as usize];
                (id.file, item.parent, item.name)
            }
            Symbol::Service(id) => {
                let item = &self.files[id.file.0 as usize].services[id.index as usize];
                (id.file, Parent::File, item.name)
            }
        };
        let decl = &self.files[file.0 as usize];
        let mut names = vec![decl.str(name)];
        let mut parent = parent;
        while let Parent::Message(index) = parent {
            let message = &decl.messages[index as usize];
            names.push(decl.str(message.name));
            parent = message.parent;
        }
        names.push(decl.package_name());
        names.reverse();
        names.retain(|name| !name.is_empty());
        names.join(".")
    }
}

fn message_of(parent: Parent) -> Option<u32> {
    match parent {
        Parent::Message(index) => Some(index),
        Parent::File => None,
    }
}
