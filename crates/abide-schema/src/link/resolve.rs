//! Resolves names from one place of a file.

use std::sync::Arc;

use abide_syntax::ImportKind;

use crate::decl::{FileDecl, Parent};
use crate::ids::{FileId, MessageId};
use crate::link::symbol::{
    NotFound, PackageNode, Scope, Symbol, SymbolQuery, SymbolTable, VisibleFiles,
};
use crate::problem::{find_near, find_nearest, import_advice, suggest_word};
use crate::protobuf::well_known;

/// The number of corrections of a name that are tried, give or take those of one scope.
const MAX_CANDIDATES: usize = 50;

/// The context for resolving the names of a file.
pub(crate) struct NameResolver<'a> {
    pub(crate) files: &'a [Arc<FileDecl>],
    pub(crate) nodes: &'a [PackageNode],
    pub(crate) symbols: &'a SymbolTable<'a>,
    pub(crate) visible: &'a [VisibleFiles],
    /// By file, whether importing it may give names that nobody could read; empty if every file
    /// parses.
    pub(crate) unreadable: &'a [bool],
}

/// A symbol of a file that another one does not see.
#[derive(Clone, Copy)]
struct OtherDeclaration {
    symbol: Symbol,
    file: FileId,
}

impl NameResolver<'_> {
    /// The scopes a name is looked up in, from the innermost to the root.
    pub(crate) fn iter_scopes(&self, file: FileId, parent: Parent) -> impl Iterator<Item = Scope> {
        let decl = &self.files[file.0 as usize];
        let messages = std::iter::successors(find_enclosing_message(parent), |&index| {
            find_enclosing_message(decl.messages[index as usize].parent)
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
        wanted: SymbolQuery,
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
        wanted: SymbolQuery,
    ) -> Result<Symbol, NotFound> {
        let node = self.nodes[scope_file.0 as usize];
        let first = name.split('.').next().unwrap_or(name);
        // A package of thousands of parts has as many scopes.
        let is_in_none = self.symbols.is_too_deep(node) && !self.symbols.is_in_packages(first);
        let scopes = self.iter_scopes(scope_file, parent);
        let scopes = scopes.take_while(|it| !(is_in_none && matches!(it, Scope::Package(_))));
        self.symbols.resolve(scopes, name, wanted, &self.visible[file.0 as usize])
    }

    /// The innermost scope that could hold the first component of a name: a
    /// message that declares it, or the file.
    pub(crate) fn find_nearest_scope(
        &self,
        file: FileId,
        mut parent: Parent,
        first: &str,
    ) -> Parent {
        while let Parent::Message(index) = parent {
            let scope = Scope::Message(MessageId { file, index });
            if self.symbols.find_all(scope, first).next().is_some() {
                break;
            }
            parent = self.files[file.0 as usize].messages[index as usize].parent;
        }
        parent
    }

    /// Describes why a name was not found at a place of a file, and what to do. What may stand
    /// there `fits`.
    pub(crate) fn describe_not_found(
        &self,
        file: FileId,
        parent: Parent,
        name: &str,
        reason: &NotFound,
        fits: &dyn Fn(Symbol) -> bool,
    ) -> (String, Option<String>) {
        // No name can be right in a package that has to be renamed.
        if self.symbols.is_too_deep(self.nodes[file.0 as usize]) {
            return (format!("`{name}` was not found"), None);
        }
        let scopes = || self.iter_scopes(file, parent);
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
            let is_visible = self.resolve(file, Parent::File, &absolute, SymbolQuery::Any).is_ok();
            let help = match self.find_elsewhere(file, [root], &absolute) {
                // What is looked up from the outermost scope anyhow is found by its import alone.
                Some(it) if self.is_outermost(found) => Some(self.suggest_import(file, parent, it)),
                _ if is_visible => {
                    Some(format!("write `{absolute}` to look it up from the outermost scope"))
                }
                Some(it) => Some(format!(
                    "{} and write `{absolute}`",
                    self.suggest_import(file, parent, it)
                )),
                None => None,
            };
            // What the scope itself lacks may be in a file that is not imported.
            let nearer = || self.find_elsewhere(file, scopes(), name);
            let help = help.or_else(|| nearer().map(|it| self.suggest_import(file, parent, it)));
            let help =
                help.or_else(|| self.find_unimported(file, scopes(), name).map(import_advice));
            let help = help.or_else(|| self.find_similar(file, parent, name, fits));
            return (message, help);
        }
        let Some(other) = self.find_elsewhere(file, scopes(), name) else {
            return match self.find_unimported(file, scopes(), name) {
                Some(path) => {
                    let message = format!("`{name}` is declared in a file that is not imported");
                    (message, Some(import_advice(path)))
                }
                None => {
                    (format!("`{name}` was not found"), self.find_similar(file, parent, name, fits))
                }
            };
        };
        let message = match (self.is_imported_for_options(file, other.file), other.symbol) {
            (true, Symbol::Extension(_)) => format!("`{name}` was not found"),
            (true, _) => {
                format!("`{name}` is declared in a file that is imported for options alone")
            }
            (false, _) => format!("`{name}` is declared in a file that is not imported"),
        };
        (message, Some(self.suggest_import(file, parent, other)))
    }

    /// Suggests what to write at a place of a file so that it sees what is declared elsewhere.
    fn suggest_import(&self, file: FileId, parent: Parent, other: OtherDeclaration) -> String {
        let path = &*self.files[other.file.0 as usize].path;
        if !self.is_imported_for_options(file, other.file) {
            return import_advice(path);
        }
        if !matches!(other.symbol, Symbol::Extension(_)) {
            return format!("write `import \"{path}\";` without `option`");
        }
        let name = self.full_name(other.symbol);
        match self.resolve(file, parent, &name, SymbolQuery::Any) {
            Ok(found) if found == other.symbol => format!("write its full name, `{name}`"),
            _ => format!("write its full name, `.{name}`"),
        }
    }

    /// Returns true if a file has an `import option` of another one.
    fn is_imported_for_options(&self, file: FileId, other: FileId) -> bool {
        let path = &self.files[other.0 as usize].path;
        let mut imports = self.files[file.0 as usize].imports.iter();
        imports.any(|it| it.kind == ImportKind::Option && *it.path == **path)
    }

    /// Finds what was most likely meant by a name that was not found: one that differs in a
    /// component, and that means something where it stands.
    fn find_similar(
        &self,
        file: FileId,
        parent: Parent,
        name: &str,
        fits: &dyn Fn(Symbol) -> bool,
    ) -> Option<String> {
        let (dot, relative) = match name.strip_prefix('.') {
            Some(relative) => (".", relative),
            None => ("", name),
        };
        let components: Vec<&str> = relative.split('.').collect();
        let scopes: Vec<Scope> = match dot {
            "" => self.iter_scopes(file, parent).collect(),
            _ => vec![Scope::Package(PackageNode::ROOT)],
        };
        // What the components lead to, scope by scope, one below the other.
        let paths: Vec<Vec<Scope>> =
            scopes.iter().map(|it| self.symbols.find_scopes_along(*it, &components)).collect();
        let mut candidates: Vec<String> = Vec::new();
        'all: for (at, component) in components.iter().enumerate().rev() {
            for inner in paths.iter().filter_map(|path| path.get(at)) {
                for near in find_near(component, self.symbols.collect_names_in(*inner).into_iter())
                {
                    let mut parts = components.clone();
                    parts[at] = near;
                    let candidate = format!("{dot}{}", parts.join("."));
                    if !candidates.contains(&candidate) {
                        candidates.push(candidate);
                    }
                }
                if candidates.len() >= MAX_CANDIDATES {
                    break 'all;
                }
            }
        }
        let means =
            |it: &&String| self.resolve(file, parent, it, SymbolQuery::Any).is_ok_and(&fits);
        if let Some(found) = candidates.iter().find(means) {
            return Some(suggest_word(found));
        }
        let elsewhere = candidates.iter().find_map(|it| {
            self.symbols.find_anywhere(scopes.iter().copied(), it).filter(|it| fits(*it))?;
            Some((it.as_str(), self.find_unimported(file, scopes.iter().copied(), it)?))
        });
        let built_in = || {
            let known = well_known::index_declared();
            let full = find_nearest(relative, known.keys().map(String::as_str)).or_else(|| {
                let is_it = |it: &&str| it.strip_prefix("google.protobuf.") == Some(relative);
                known.keys().map(String::as_str).find(is_it)
            })?;
            Some((full, *known.get(full)?))
        };
        let (found, path) = elsewhere.or_else(built_in)?;
        Some(format!("{} If so, {}", suggest_word(found), import_advice(path)))
    }

    /// Returns true if a symbol is a package that is in no other.
    fn is_outermost(&self, symbol: &Symbol) -> bool {
        let Symbol::Package(node) = symbol else { return false };
        self.symbols.package_parent(*node) == Some(PackageNode::ROOT)
    }

    /// Finds the declaration of a name in another file.
    fn find_elsewhere(
        &self,
        file: FileId,
        scopes: impl IntoIterator<Item = Scope>,
        name: &str,
    ) -> Option<OtherDeclaration> {
        let symbol = self.symbols.find_anywhere(scopes, name)?;
        let other = symbol.file().filter(|it| *it != file)?;
        Some(OtherDeclaration { symbol, file: other })
    }

    /// The path of the file to import for a name: one of the tree, or of the well-known types.
    fn find_unimported(
        &self,
        file: FileId,
        scopes: impl IntoIterator<Item = Scope>,
        name: &str,
    ) -> Option<&str> {
        let scopes: Vec<Scope> = scopes.into_iter().collect();
        if let Some(symbol) = self.symbols.find_anywhere(scopes.iter().copied(), name) {
            let other = symbol.file().filter(|it| *it != file)?;
            return Some(&self.files[other.0 as usize].path);
        }
        let absolute = name.strip_prefix('.');
        scopes.into_iter().find_map(|scope| match (scope, absolute) {
            (Scope::Package(PackageNode::ROOT), _) => {
                well_known::find_declaring(absolute.unwrap_or(name))
            }
            (Scope::Package(node), None) => {
                well_known::find_declaring(&format!("{}.{name}", self.symbols.package_name(node)))
            }
            _ => None,
        })
    }

    /// Returns true if a file is in a package or in one below it.
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

fn find_enclosing_message(parent: Parent) -> Option<u32> {
    match parent {
        Parent::Message(index) => Some(index),
        Parent::File => None,
    }
}
