//! The names of a tree, and how protoc looks them up.
//!
//! ScopeTable are kept by scope, not as full strings: a scope is a package (or a
//! prefix of one) or a message. A name may have several symbols, from
//! different files; a lookup sees only those of files that are visible.

use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{EnumId, EnumValueId, FieldId, FileId, MessageId, ServiceId};

/// The largest number of dots in a package name. Source: `kPackageLimit` of protobuf.
pub(crate) const MAX_PACKAGE_DOTS: usize = 100;

/// A package or a prefix of one, by its index; 0 is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PackageNode(pub(crate) u32);

impl PackageNode {
    pub(crate) const ROOT: PackageNode = PackageNode(0);
}

/// A scope that names are looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    Package(PackageNode),
    Message(MessageId),
}

/// The element or package that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Package(PackageNode),
    Message(MessageId),
    Enum(EnumId),
    EnumValue(EnumValueId),
    Extension(FieldId),
    Service(ServiceId),
}

impl Symbol {
    pub(crate) fn file(self) -> Option<FileId> {
        match self {
            Symbol::Package(_) => None,
            Symbol::Message(id) => Some(id.file),
            Symbol::Enum(id) => Some(id.file),
            Symbol::EnumValue(id) => Some(id.file),
            Symbol::Extension(id) => Some(id.file),
            Symbol::Service(id) => Some(id.file),
        }
    }

    fn is_type(self) -> bool {
        matches!(self, Symbol::Message(_) | Symbol::Enum(_))
    }

    pub(crate) fn noun(self) -> &'static str {
        match self {
            Symbol::Package(_) => "package",
            Symbol::Message(_) => "message",
            Symbol::Enum(_) => "enum",
            Symbol::EnumValue(_) => "enum value",
            Symbol::Extension(_) => "extension",
            Symbol::Service(_) => "service",
        }
    }
}

struct ScopeRow {
    symbol: Symbol,
    /// The next symbol with the same name in the same scope; after the last one, the first.
    next: u32,
}

/// The names of some scopes. Scopes of one table are told apart by a number:
/// that of the package node, or the index of the message in its file.
#[derive(Default)]
pub(crate) struct ScopeTable<'a> {
    /// The last symbol with each name.
    names: FxHashMap<(u32, &'a str), u32>,
    rows: Vec<ScopeRow>,
    /// The names that have more than one symbol.
    repeated: Vec<(u32, &'a str)>,
}

impl<'a> ScopeTable<'a> {
    pub(crate) fn with_capacity(capacity: usize) -> ScopeTable<'a> {
        let mut names = FxHashMap::default();
        names.reserve(capacity);
        ScopeTable { names, rows: Vec::with_capacity(capacity), repeated: Vec::new() }
    }

    /// Adds a symbol behind those that have its name already.
    pub(crate) fn insert(&mut self, scope: u32, name: &'a str, symbol: Symbol) {
        let row = self.rows.len() as u32;
        let mut next = row;
        match self.names.entry((scope, name)) {
            Entry::Vacant(entry) => {
                entry.insert(row);
            }
            Entry::Occupied(mut entry) => {
                let last = entry.insert(row);
                next = std::mem::replace(&mut self.rows[last as usize].next, row);
                if next == last {
                    self.repeated.push((scope, name));
                }
            }
        }
        self.rows.push(ScopeRow { symbol, next });
    }

    /// Its scopes and names, in order.
    fn sort_rows(&self) -> Vec<(u32, &'a str)> {
        let mut names: Vec<_> = self.names.keys().copied().collect();
        names.sort_unstable();
        names
    }

    fn find_all(&self, scope: u32, name: &str) -> impl Iterator<Item = Symbol> + '_ {
        let last = self.names.get(&(scope, name)).copied();
        let row = |at: u32| self.rows.get(at as usize);
        let mut next = last.and_then(row).map(|last| last.next);
        std::iter::from_fn(move || {
            let at = next?;
            let row = row(at)?;
            next = (Some(at) != last).then_some(row.next);
            Some(row.symbol)
        })
    }
}

/// Every name of a tree that another declaration can use, but for fields,
/// oneofs and methods, which no reference can mean.
pub(crate) struct SymbolTable<'a> {
    /// The names in packages.
    top: ScopeTable<'a>,
    /// The names in the messages of each file, which no other file adds to.
    nested: Vec<ScopeTable<'a>>,
    packages: Vec<(PackageNode, &'a str)>,
    /// The names in packages, sorted when first asked for: only suggestions need them.
    top_names: OnceLock<Vec<(u32, Box<str>)>>,
    /// The names that any package has, collected when first asked for.
    names_in_packages: OnceLock<FxHashSet<Box<str>>>,
}

impl<'a> SymbolTable<'a> {
    /// With the names in messages, file by file.
    pub(crate) fn new(nested: Vec<ScopeTable<'a>>, capacity: usize) -> SymbolTable<'a> {
        let packages = vec![(PackageNode::ROOT, "")];
        let top = ScopeTable::with_capacity(capacity);
        let (top_names, names_in_packages) = (OnceLock::new(), OnceLock::new());
        SymbolTable { top, nested, packages, top_names, names_in_packages }
    }

    /// The node of a package; it and its prefixes are added where they are
    /// not known yet.
    pub(crate) fn add_package(&mut self, name: &'a str) -> PackageNode {
        let mut node = PackageNode::ROOT;
        for component in name.split('.').filter(|component| !component.is_empty()) {
            let known =
                self.find_all(Scope::Package(node), component).find_map(|symbol| match symbol {
                    Symbol::Package(node) => Some(node),
                    _ => None,
                });
            node = known.unwrap_or_else(|| {
                let child = PackageNode(self.packages.len() as u32);
                self.packages.push((node, component));
                self.insert(node, component, Symbol::Package(child));
                child
            });
        }
        node
    }

    /// The names that have more than one symbol, those in packages first.
    pub(crate) fn find_repeated(&self) -> impl Iterator<Item = (Scope, &'a str)> + '_ {
        let package = |&(node, name): &(u32, &'a str)| (Scope::Package(PackageNode(node)), name);
        let nested = self.nested.iter().enumerate().flat_map(|(file, names)| {
            let file = FileId(file as u32);
            let message = move |&(index, name): &(u32, &'a str)| {
                (Scope::Message(MessageId { file, index }), name)
            };
            names.repeated.iter().map(message)
        });
        self.top.repeated.iter().map(package).chain(nested)
    }

    /// The dotted name of a package.
    pub(crate) fn package_name(&self, node: PackageNode) -> String {
        let mut names = Vec::new();
        let mut at = node;
        while let Some(parent) = self.package_parent(at) {
            names.push(self.packages[at.0 as usize].1);
            at = parent;
        }
        names.reverse();
        names.join(".")
    }

    pub(crate) fn package_count(&self) -> usize {
        self.packages.len()
    }

    pub(crate) fn package_parent(&self, node: PackageNode) -> Option<PackageNode> {
        (node != PackageNode::ROOT).then(|| self.packages[node.0 as usize].0)
    }

    /// A package and its prefixes, down to the root.
    pub(crate) fn with_prefixes(&self, node: PackageNode) -> impl Iterator<Item = PackageNode> {
        std::iter::successors(Some(node), |&at| self.package_parent(at))
    }

    /// Returns true if a package has more parts than protoc takes. Its prefixes are too many to
    /// look through again and again.
    pub(crate) fn is_too_deep(&self, node: PackageNode) -> bool {
        // The root is one more.
        self.with_prefixes(node).nth(MAX_PACKAGE_DOTS + 2).is_some()
    }

    /// Returns true if any package of the tree has this name in it.
    pub(crate) fn is_in_packages(&self, name: &str) -> bool {
        let all = || self.top.names.keys().map(|(_, name)| (*name).into()).collect();
        self.names_in_packages.get_or_init(all).contains(name)
    }

    /// Adds a symbol of a package behind those that have its name already.
    pub(crate) fn insert(&mut self, package: PackageNode, name: &'a str, symbol: Symbol) {
        self.top.insert(package.0, name, symbol);
    }

    /// Every symbol with this name in this scope, in the order of files.
    pub(crate) fn find_all(&self, scope: Scope, name: &str) -> impl Iterator<Item = Symbol> + '_ {
        let (names, scope) = match scope {
            Scope::Package(node) => (&self.top, node.0),
            Scope::Message(id) => (&self.nested[id.file.0 as usize], id.index),
        };
        names.find_all(scope, name)
    }

    /// Every name in a scope, sorted.
    pub(crate) fn collect_names_in(&self, scope: Scope) -> Vec<&str> {
        match scope {
            Scope::Package(node) => {
                let owned = |(scope, name): (u32, &str)| (scope, name.into());
                let sorted = || self.top.sort_rows().into_iter().map(owned).collect();
                let names = self.top_names.get_or_init(sorted);
                let start = names.partition_point(|it| it.0 < node.0);
                let names = names.get(start..).unwrap_or_default().iter();
                names.take_while(|it| it.0 == node.0).map(|it| &*it.1).collect()
            }
            Scope::Message(id) => {
                let names = self.nested[id.file.0 as usize].sort_rows().into_iter();
                names.filter(|it| it.0 == id.index).map(|it| it.1).collect()
            }
        }
    }

    /// A scope and those that components lead to from there, one below the other, whoever sees
    /// them.
    pub(crate) fn find_scopes_along(&self, scope: Scope, components: &[&str]) -> Vec<Scope> {
        let mut components = components.iter();
        let inner =
            |scope: &Scope| self.find_all(*scope, components.next()?).find_map(Self::as_scope);
        std::iter::successors(Some(scope), inner).collect()
    }

    /// The scope that a symbol opens.
    fn as_scope(symbol: Symbol) -> Option<Scope> {
        match symbol {
            Symbol::Package(node) => Some(Scope::Package(node)),
            Symbol::Message(id) => Some(Scope::Message(id)),
            // Nothing that a name can mean lies inside; protoc looks there
            // and finds nothing, which ends the search.
            Symbol::Enum(_) | Symbol::EnumValue(_) | Symbol::Extension(_) | Symbol::Service(_) => {
                None
            }
        }
    }
}

/// A set of numbers below a limit, in a small form.
pub(crate) enum NumberSet {
    /// Sorted.
    Few(Vec<u32>),
    /// First and last numbers, sorted and apart.
    Ranges(Vec<(u32, u32)>),
    /// A bit for each number below the limit.
    Many(Vec<u64>),
}

impl NumberSet {
    /// Bits are quicker to look up, so a set of this many takes them at once.
    const SMALL: usize = 4096;

    pub(crate) fn new(mut numbers: Vec<u32>, limit: usize) -> NumberSet {
        if limit > NumberSet::SMALL && numbers.len() <= limit / 32 {
            numbers.sort_unstable();
            numbers.shrink_to_fit();
            return NumberSet::Few(numbers);
        }
        NumberSet::from_bits(numbers.into_iter().map(|number| (number, number)), limit)
    }

    /// Of ranges from a first to a last number, in any order.
    pub(crate) fn from_ranges(mut ranges: Vec<(u32, u32)>, limit: usize) -> NumberSet {
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let joins = next.0 <= last.1.saturating_add(1);
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
        if ranges.len() <= limit / 64 || ranges.len() <= 1 {
            ranges.shrink_to_fit();
            return NumberSet::Ranges(ranges);
        }
        NumberSet::from_bits(ranges.into_iter(), limit)
    }

    fn from_bits(ranges: impl Iterator<Item = (u32, u32)>, limit: usize) -> NumberSet {
        let mut bits = vec![0; limit.div_ceil(64)];
        for number in ranges.flat_map(|(first, last)| first..=last) {
            bits[number as usize / 64] |= 1 << (number % 64);
        }
        NumberSet::Many(bits)
    }

    /// Returns the numbers it holds, as ranges of which none needs to be as long as it could be.
    pub(crate) fn to_ranges(&self) -> Vec<(u32, u32)> {
        let held = |number: &u32| self.contains(*number);
        match self {
            NumberSet::Few(numbers) => numbers.iter().map(|&it| (it, it)).collect(),
            NumberSet::Ranges(ranges) => ranges.clone(),
            NumberSet::Many(bits) => {
                (0..bits.len() as u32 * 64).filter(held).map(|it| (it, it)).collect()
            }
        }
    }

    /// Returns true if it shares no number with a set below the same limit.
    pub(crate) fn is_disjoint(&self, other: &NumberSet) -> bool {
        let each_apart = |few: &NumberSet, other: &NumberSet| {
            few.to_ranges().into_iter().flat_map(|it| it.0..=it.1).all(|it| !other.contains(it))
        };
        match (self, other) {
            (NumberSet::Many(a), NumberSet::Many(b)) => a.iter().zip(b).all(|(a, b)| a & b == 0),
            (NumberSet::Many(_), few) => each_apart(few, self),
            (few, other) => each_apart(few, other),
        }
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        match self {
            NumberSet::Few(numbers) => numbers.binary_search(&number).is_ok(),
            NumberSet::Ranges(ranges) => {
                let at = ranges.partition_point(|range| range.0 <= number);
                ranges[..at].last().is_some_and(|range| number <= range.1)
            }
            NumberSet::Many(bits) => {
                bits.get(number as usize / 64).is_some_and(|bits| bits >> (number % 64) & 1 == 1)
            }
        }
    }
}

/// The files a file may use names of: itself, what it imports, and what those
/// import publicly.
pub(crate) struct VisibleFiles {
    /// Itself and its imports.
    pub(crate) files: NumberSet,
    /// Those that `import option` adds: of them only extensions are visible.
    pub(crate) option_files: NumberSet,
    /// The packages of those files and their prefixes.
    pub(crate) packages: NumberSet,
    /// The files that those import publicly.
    pub(crate) passed_on: Option<Reexports>,
}

/// The files that imports pass on to a file, by `import public`.
pub(crate) struct Reexports {
    pub(crate) numbers: Arc<PublicNumbers>,
    pub(crate) by_imports: Option<Arc<ReexportedFiles>>,
    pub(crate) by_option_imports: Option<Arc<ReexportedFiles>>,
}

/// Numbers of files and of packages, in an order in which what a file passes on lies together.
pub(crate) struct PublicNumbers {
    pub(crate) files: Vec<u32>,
    pub(crate) packages: Vec<u32>,
}

/// Some files with their packages and the prefixes of those, by their [`PublicNumbers`].
pub(crate) struct ReexportedFiles {
    pub(crate) files: NumberSet,
    pub(crate) packages: NumberSet,
}

impl Reexports {
    fn reaches(&self, symbol: Symbol, by_option: bool) -> bool {
        let by_imports = self.by_imports.iter();
        match (symbol, symbol.file()) {
            (Symbol::Package(node), _) => {
                let number = self.numbers.packages[node.0 as usize];
                by_imports.chain(&self.by_option_imports).any(|it| it.packages.contains(number))
            }
            (_, None) => false,
            (_, Some(FileId(file))) => {
                let number = self.numbers.files[file as usize];
                let options = self.by_option_imports.iter().filter(|_| by_option);
                by_imports.chain(options).any(|it| it.files.contains(number))
            }
        }
    }
}

impl VisibleFiles {
    /// Returns true if a name can mean this symbol.
    fn can_see(&self, symbol: Symbol) -> bool {
        self.reaches(symbol, matches!(symbol, Symbol::Extension(_)))
    }

    /// Returns true if a name can lead through this symbol. `import option` shows the extensions in
    /// a message to those who write their full names, and not the message. Source: `FindSymbol` of
    /// protoc asks for the dependency of what a whole name means, never for that of a part.
    fn can_lead_through(&self, symbol: Symbol) -> bool {
        self.reaches(symbol, true)
    }

    /// Returns true if a symbol is in a file that is imported; `by_option` adds what `import
    /// option` does.
    fn reaches(&self, symbol: Symbol, by_option: bool) -> bool {
        let directly = match symbol {
            Symbol::Package(node) => self.packages.contains(node.0),
            _ => symbol.file().is_some_and(|FileId(file)| {
                self.files.contains(file) || by_option && self.option_files.contains(file)
            }),
        };
        directly || self.passed_on.as_ref().is_some_and(|it| it.reaches(symbol, by_option))
    }
}

/// The kind of symbol that a lookup accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SymbolQuery {
    /// A message or an enum; other symbols are passed over.
    Type,
    /// Any symbol with the name.
    Any,
}

/// The reason why a lookup found nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// No visible symbol has the name.
    Nowhere,
    /// The first component was found in a scope, and what it names does not
    /// hold the rest.
    InnerScope {
        /// The symbol that the first component named.
        found: Symbol,
    },
}

impl SymbolTable<'_> {
    fn find_visible(&self, scope: Scope, name: &str, visible: &VisibleFiles) -> Option<Symbol> {
        self.find_all(scope, name).find(|&symbol| visible.can_see(symbol))
    }

    /// Goes down from a scope along a dotted name.
    fn walk_down(&self, mut scope: Scope, name: &str, visible: &VisibleFiles) -> Option<Symbol> {
        let mut components = name.split('.').peekable();
        while let Some(component) = components.next() {
            if components.peek().is_none() {
                return self.find_visible(scope, component, visible);
            }
            scope = self
                .find_all(scope, component)
                .filter(|&symbol| visible.can_lead_through(symbol))
                .find_map(Self::as_scope)?;
        }
        None
    }

    /// Finds what `name` means in the scopes, which stand from the innermost
    /// to the root. Source: `DescriptorBuilder::LookupSymbolNoPlaceholder`:
    /// the innermost scope that has the first component wins, and where the
    /// rest is missing there, the search is over.
    pub(crate) fn resolve(
        &self,
        scopes: impl IntoIterator<Item = Scope>,
        name: &str,
        wanted: SymbolQuery,
        visible: &VisibleFiles,
    ) -> Result<Symbol, NotFound> {
        if let Some(absolute) = name.strip_prefix('.') {
            let root = Scope::Package(PackageNode::ROOT);
            return self.walk_down(root, absolute, visible).ok_or(NotFound::Nowhere);
        }
        let (first, rest) = match name.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (name, None),
        };
        for scope in scopes {
            match rest {
                None => {
                    let found = self.find_all(scope, first).find(|&symbol| {
                        visible.can_see(symbol) && (wanted == SymbolQuery::Any || symbol.is_type())
                    });
                    if let Some(symbol) = found {
                        return Ok(symbol);
                    }
                }
                Some(rest) => {
                    let aggregate = |symbol: &Symbol| {
                        visible.can_see(*symbol)
                            && !matches!(symbol, Symbol::EnumValue(_) | Symbol::Extension(_))
                    };
                    if let Some(found) = self.find_all(scope, first).find(aggregate) {
                        return Self::as_scope(found)
                            .and_then(|scope| self.walk_down(scope, rest, visible))
                            .ok_or(NotFound::InnerScope { found });
                    }
                }
            }
        }
        Err(NotFound::Nowhere)
    }

    /// A symbol with this name in any file, for "is not imported".
    pub(crate) fn find_anywhere(
        &self,
        scopes: impl IntoIterator<Item = Scope>,
        name: &str,
    ) -> Option<Symbol> {
        let everything = |scope: Scope, name: &str| {
            let mut scope = scope;
            let mut components = name.split('.').peekable();
            while let Some(component) = components.next() {
                if components.peek().is_none() {
                    return self.find_all(scope, component).find(|symbol| symbol.file().is_some());
                }
                scope = self.find_all(scope, component).find_map(Self::as_scope)?;
            }
            None
        };
        if let Some(absolute) = name.strip_prefix('.') {
            return everything(Scope::Package(PackageNode::ROOT), absolute);
        }
        scopes.into_iter().find_map(|scope| everything(scope, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_set_hold_the_same_numbers() {
        let numbers = [0, 63, 64, 4095];
        for limit in [NumberSet::SMALL, NumberSet::SMALL + 1] {
            let set = NumberSet::new(numbers.iter().rev().copied().collect(), limit);
            let held: Vec<u32> = (0..5000).filter(|&number| set.contains(number)).collect();
            assert_eq!(held, numbers, "below {limit}");
            let points = numbers.iter().rev().map(|&it| (it, it)).collect();
            for ranges in [points, vec![(63, 64), (0, 0), (4095, 4095)]] {
                let set = NumberSet::from_ranges(ranges, limit);
                let held: Vec<u32> = (0..5000).filter(|&number| set.contains(number)).collect();
                assert_eq!(held, numbers, "below {limit}");
                assert!(!set.is_disjoint(&NumberSet::new(vec![4095], limit)));
                assert!(NumberSet::new(vec![1, 65], limit).is_disjoint(&set));
                let again = NumberSet::from_ranges(set.to_ranges(), limit);
                assert!((0..5000).all(|number| again.contains(number) == set.contains(number)));
            }
        }
        // Ranges that touch or overlap are one; of many that do not, bits take less room.
        let joined = NumberSet::from_ranges(vec![(5, 9), (0, 2), (3, 3), (4, 7)], 100);
        assert!(matches!(joined, NumberSet::Ranges(ranges) if ranges == [(0, 9)]));
        let apart = (0..500).map(|it| (it * 2, it * 2)).collect();
        assert!(matches!(NumberSet::from_ranges(apart, 1000), NumberSet::Many(_)));
    }

    #[test]
    fn symbols_of_one_name_stay_in_order() {
        let symbol = |index| Symbol::Message(MessageId { file: FileId(0), index });
        let mut names = ScopeTable::default();
        for index in 0..9 {
            names.insert(0, ["a", "b", "c"][index as usize % 3], symbol(index));
        }
        names.insert(1, "a", symbol(9));
        let found = |scope, name| names.find_all(scope, name).collect::<Vec<Symbol>>();
        assert_eq!(found(0, "b"), [1, 4, 7].map(symbol));
        assert_eq!(found(1, "a"), [symbol(9)]);
        assert_eq!(found(1, "b"), []);
        assert_eq!(names.repeated, [(0, "a"), (0, "b"), (0, "c")]);
    }

    /// Each of many files has such sets, so they must not grow with the tree.
    #[test]
    fn a_few_numbers_of_many_take_little_room() {
        let set = NumberSet::new(vec![7, 99_999], 100_000);
        assert!(matches!(set, NumberSet::Few(numbers) if numbers.capacity() < 8));
    }
}
