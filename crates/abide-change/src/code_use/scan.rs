//! Finds the uses of generated names in one source file.
//!
//! There is no compiler here: types of variables come from how they are declared and assigned, and
//! a member of an unknown type counts if only one of the types that the file names can have it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::CodeUse;
use super::index::{MemberForms, NameIndex};
use super::scope::{Scope, read_path};
use super::tokens::Token;
use crate::symbols::Language;

/// What the names of variables, members and functions in all files stand for: a generated type, or
/// nothing where files differ.
#[derive(Default)]
pub(super) struct KnownNames {
    variables: FxHashMap<String, Option<String>>,
    functions: FxHashMap<String, Option<String>>,
}

impl KnownNames {
    fn note(names: &mut FxHashMap<String, Option<String>>, name: &str, ty: &str) {
        let known = names.entry(name.to_owned()).or_insert_with(|| Some(ty.to_owned()));
        if known.as_deref() != Some(ty) {
            *known = None;
        }
    }
}

/// One file, as it is read from its first token to its last.
pub(super) struct CodeScan<'s, 'c> {
    index: &'s NameIndex<'s>,
    tokens: &'s [Token<'c>],
    scope: &'s Scope,
    known: &'s KnownNames,
    /// The types of variables, as they were last declared.
    variables: BTreeMap<&'c str, Option<String>>,
    functions: BTreeMap<&'c str, String>,
    /// The variables that are declared with a type of others.
    foreign: FxHashSet<&'c str>,
    /// The types that the file names.
    mentioned: BTreeSet<String>,
    /// The names that belong to a chain that was read.
    taken: FxHashSet<usize>,
    /// The types whose values are written in brackets around the current place.
    literals: Vec<Option<String>>,
    /// The type that the next bracket opens a value of.
    opens: Option<(usize, String)>,
    uses: BTreeSet<CodeUse>,
}

impl<'s, 'c> CodeScan<'s, 'c> {
    pub(super) fn new(
        index: &'s NameIndex<'s>,
        tokens: &'s [Token<'c>],
        scope: &'s Scope,
        known: &'s KnownNames,
    ) -> CodeScan<'s, 'c> {
        CodeScan {
            index,
            tokens,
            scope,
            known,
            variables: BTreeMap::new(),
            functions: BTreeMap::new(),
            foreign: FxHashSet::default(),
            mentioned: BTreeSet::new(),
            taken: FxHashSet::default(),
            literals: Vec::new(),
            opens: None,
            uses: BTreeSet::new(),
        }
    }

    /// Notes what the names of the file stand for, for all files.
    pub(super) fn note_names(mut self, known: &mut KnownNames) {
        self.read_all();
        let variables = self.variables.into_iter().filter_map(|(name, ty)| Some((name, ty?)));
        variables.for_each(|(name, ty)| KnownNames::note(&mut known.variables, name, &ty));
        for (name, ty) in self.functions {
            KnownNames::note(&mut known.functions, name, &ty);
        }
    }

    /// Finds the uses of the file.
    pub(super) fn find_uses(mut self) -> BTreeSet<CodeUse> {
        // Types that are named further down count as well.
        self.read_all();
        self.variables.clear();
        self.foreign.clear();
        self.taken.clear();
        self.literals.clear();
        self.uses.clear();
        self.read_all();
        self.uses
    }

    fn read_all(&mut self) {
        for at in 0..self.tokens.len() {
            self.read_token(at);
        }
    }

    fn read_token(&mut self, at: usize) {
        let token = self.tokens[at];
        match token.text {
            "{" | "(" | "[" if token.kind == super::tokens::TokenKind::Sign => self.open(at),
            "}" | ")" | "]" if token.kind == super::tokens::TokenKind::Sign => {
                self.literals.pop();
            }
            _ if token.is_name() && !self.taken.contains(&at) => self.read_name(at),
            _ => {}
        }
    }

    /// Opens a bracket: perhaps that of a value of a generated type.
    fn open(&mut self, at: usize) {
        let opened = self.opens.take().filter(|it| it.0 == at).map(|it| it.1);
        let is_inner = self.tokens[at].is("{")
            && at
                .checked_sub(1)
                .is_some_and(|it| [",", "{", ":"].iter().any(|sign| self.tokens[it].is(sign)));
        // Values in a list need not name their type again.
        let around = || self.literals.last().cloned().flatten().filter(|_| is_inner);
        let literal = opened.or_else(around);
        self.literals.push(literal);
    }

    fn read_name(&mut self, at: usize) {
        let is_member = at.checked_sub(1).is_some_and(|it| self.tokens[it].is_join())
            && !(self.index.language == Language::Cpp && self.is_global(at));
        if is_member {
            return self.read_unknown_member(at);
        }
        let (path, _) = read_path(self.tokens, at);
        if let Some((name, count)) = self.scope.resolve(self.index, &path) {
            return self.read_generated(at, &name, count);
        }
        if self.read_key(at) {
            return;
        }
        self.declare_foreign(at);
        let text = self.tokens[at].text;
        let is_call = self.is_sign(at + 1, "(");
        let ty = match is_call {
            true => self.functions.get(text).cloned(),
            false => self.variables.get(text).cloned().flatten(),
        };
        let from_all = || self.known.functions.get(text).cloned().flatten().filter(|_| is_call);
        match ty.or_else(from_all) {
            Some(ty) => {
                let last = self.read_chain(at + 1, Some(ty));
                self.assign(at, last);
            }
            None => self.forget_assigned(at),
        }
        self.read_case(at);
    }

    /// Returns true if a name follows `::` that no name stands before.
    fn is_global(&self, at: usize) -> bool {
        let before = at.checked_sub(2).map(|it| self.tokens[it]);
        self.tokens[at - 1].text == "::" && !before.is_some_and(|it| it.is_name() || it.is(">"))
    }

    fn is_sign(&self, at: usize, sign: &str) -> bool {
        self.tokens.get(at).is_some_and(|it| it.is(sign))
    }

    /// Adds a use of what a name is generated for.
    fn add(&mut self, at: usize, elements: &[u32]) {
        for number in elements {
            let element = self.index.elements[*number as usize].full_name();
            let token = self.tokens[at];
            self.uses.insert(CodeUse { element, line: token.line, symbol: token.text.to_owned() });
        }
    }

    /// Reads a name that is generated: `count` names of the path from here.
    fn read_generated(&mut self, at: usize, name: &str, count: usize) {
        let last = at + (count - 1) * 2;
        for place in (at..=last).step_by(2) {
            self.taken.insert(place);
        }
        if let Some(elements) = self.index.names.get(name) {
            self.add(last, &elements.clone());
        }
        let name = self.index.find_owner(name);
        // The types around an inner one are used, too.
        for (end, _) in name.match_indices('.') {
            if self.index.is_type(&name[..end]) {
                self.mentioned.insert(name[..end].to_owned());
            }
        }
        if !self.index.is_type(name) {
            let result = self.find_result_of(name);
            let end = self.read_chain(last + 1, result);
            return self.assign(at, end);
        }
        self.mentioned.insert(name.to_owned());
        let opening =
            (last + 1..last + 3).find(|it| self.is_sign(*it, "{") || self.is_sign(*it, "("));
        if let Some(opening) = opening.filter(|it| *it == last + 1 || self.is_sign(last + 1, ">")) {
            self.opens = Some((opening, name.to_owned()));
        }
        let end = self.read_chain(last + 1, Some(name.to_owned()));
        self.declare(at, last, name);
        self.assign(at, end);
    }

    /// The type that a function beside types gives, as `NewUsersClient` of Go.
    fn find_result_of(&self, name: &str) -> Option<String> {
        let (owner, member) = name.rsplit_once('.')?;
        self.index.members.get(owner)?.get(member)?.result.clone()
    }

    /// Reads the members behind a value of a type, and returns the type of the last one.
    fn read_chain(&mut self, mut at: usize, mut ty: Option<String>) -> Option<String> {
        loop {
            let token = *self.tokens.get(at)?;
            if token.is("(") || token.is("[") {
                at = self.find_close(at)? + 1;
                if at >= self.tokens.len() {
                    return ty;
                }
                continue;
            }
            let is_next = token.is_join() && self.tokens.get(at + 1).is_some_and(|it| it.is_name());
            if !is_next {
                return ty;
            }
            let (place, member) = (at + 1, self.tokens[at + 1].text);
            let owner = ty?;
            self.taken.insert(place);
            ty = self.read_member(place, &owner, member);
            self.read_quoted(place, &owner, member);
            at += 2;
        }
    }

    /// Adds the use of a member of a type. Returns the type that it gives.
    fn read_member(&mut self, at: usize, owner: &str, member: &str) -> Option<String> {
        let found = self.index.members.get(owner).and_then(|it| it.get(member)).cloned();
        if let Some(found) = found.filter(|it| self.is_written_as(at, it.forms)) {
            self.add(at, &found.elements);
            return found.result;
        }
        let inner = format!("{owner}.{member}");
        if let Some(elements) = self.index.names.get(&inner).cloned() {
            self.add(at, &elements);
        }
        if self.index.is_type(&inner) {
            self.mentioned.insert(inner.clone());
            return Some(inner);
        }
        find_common_result(self.index, owner, member)
    }

    /// Returns true if the name at a place is written as a member is.
    fn is_written_as(&self, at: usize, forms: MemberForms) -> bool {
        let is_reference =
            at > 0 && self.tokens[at - 1].text == "::" && self.index.language == Language::Java;
        match (self.is_sign(at + 1, "("), self.is_sign(at + 2, ")")) {
            (true, true) => forms.takes_nothing,
            (true, false) => forms.takes_arguments,
            (false, _) => forms.is_plain || is_reference,
        }
    }

    /// Adds the uses of fields that calls name in quotes, as `HasField("name")` of Python.
    fn read_quoted(&mut self, at: usize, owner: &str, member: &str) {
        let named = matches!(member, "HasField" | "ClearField" | "WhichOneof" | "Value");
        let text = self.tokens.get(at + 2).filter(|it| it.kind == super::tokens::TokenKind::Text);
        let Some(text) = text.filter(|_| named && self.is_sign(at + 1, "(")) else { return };
        let found = self.index.members.get(owner).and_then(|it| it.get(text.text)).cloned();
        if let Some(found) = found {
            self.add(at + 2, &found.elements);
        }
    }

    /// Reads a key of a value in brackets: `Name:` in Go, `name=` in Python.
    fn read_key(&mut self, at: usize) -> bool {
        let sign = match self.index.language {
            Language::Go => ":",
            Language::Python => "=",
            Language::Java | Language::Cpp => return false,
        };
        let is_key = self.is_sign(at + 1, sign) && !self.is_sign(at + 2, "=");
        let Some(Some(ty)) = self.literals.last().cloned().filter(|_| is_key) else { return false };
        let result = self.read_member(at, &ty, self.tokens[at].text);
        // A value in brackets without a type has that of its key.
        let opening = (at + 2..at + 4).find(|it| self.is_sign(*it, "{"));
        if let Some((opening, result)) = opening.zip(result) {
            self.opens = Some((opening, result));
        }
        true
    }

    /// Reads a label of Java's `switch`, which names a value of an enum alone.
    fn read_case(&mut self, at: usize) {
        let is_label =
            self.index.language == Language::Java && at > 0 && self.tokens[at - 1].text == "case";
        if !is_label {
            return;
        }
        if let Some(found) = self.find_only_member(at, true) {
            self.add(at, &found.1);
        }
    }

    /// Reads a member of something whose type is not known.
    fn read_unknown_member(&mut self, at: usize) {
        let text = self.tokens[at].text;
        let receiver = at.checked_sub(2).map(|it| self.tokens[it]);
        let is_own =
            receiver.is_some_and(|it| matches!(it.text, "self" | "this" | "super" | "cls"));
        let is_call = self.is_sign(at + 1, "(");
        let of_all = match is_call {
            true => self.known.functions.get(text).cloned().flatten(),
            false => self.known.variables.get(text).cloned().flatten(),
        };
        let is_telling = is_telling_member(self.index.language, text);
        // Members of Go begin with a capital, so a known one is a field of a struct of others.
        let is_of_others = self.index.language == Language::Go && of_all.is_some();
        let is_foreign = is_own || !is_telling && (is_of_others || self.is_foreign_member(at));
        let found = self.find_only_member(at, is_telling).filter(|_| !is_foreign);
        if let Some((owner, elements)) = found {
            self.taken.insert(at);
            self.add(at, &elements);
            let result = self.read_member(at, &owner, text);
            let last = self.read_chain(at + 1, result);
            return self.assign(at, last);
        }
        if of_all.is_some() {
            let last = self.read_chain(at + 1, of_all);
            self.assign(at, last);
        }
    }

    /// The only type that the file can mean with a member, and the elements of that. A name that
    /// says what it is may be of a type that the file does not name.
    fn find_only_member(&self, at: usize, is_telling: bool) -> Option<(String, Vec<u32>)> {
        if !self.scope.sees_units {
            return None;
        }
        let member = self.tokens[at].text;
        let owners = self.index.owners.get(member)?.iter();
        let owners: Vec<&String> = owners
            .filter(|it| self.is_written_as(at, self.index.members[*it][member].forms))
            .collect();
        let elements = |owner: &String| self.index.members[owner][member].elements.clone();
        let mentioned: Vec<&String> =
            owners.iter().copied().filter(|it| self.is_mentioned(it)).collect();
        let of = |owners: Vec<&String>| {
            let first = owners.first().map(|it| ((*it).clone(), elements(it)))?;
            owners.iter().all(|it| elements(it) == first.1).then_some(first)
        };
        match mentioned.is_empty() {
            false => of(mentioned),
            true if is_telling => of(owners),
            true => None,
        }
    }

    /// Returns true if a member is one of a variable with a type of others.
    fn is_foreign_member(&self, at: usize) -> bool {
        let Some(receiver) = at.checked_sub(2).map(|it| self.tokens[it]) else { return false };
        let is_bare = !at.checked_sub(3).is_some_and(|it| self.tokens[it].is_join());
        is_bare && receiver.is_name() && self.foreign.contains(receiver.text)
    }

    /// Notes a variable that is declared with a type that is not generated: the name of the type,
    /// or in Go that of the variable, is here.
    fn declare_foreign(&mut self, at: usize) {
        let (name, is_foreign) = match self.index.language {
            Language::Go => (at, self.begins_parameter(at)),
            Language::Java | Language::Cpp => {
                let (path, mut end) = read_path(self.tokens, at);
                let is_type = path.last().is_some_and(|it| !is_keyword(it) && *it != "auto");
                while self.is_sign(end, "&") || self.is_sign(end, "*") {
                    end += 1;
                }
                let ends =
                    ["=", ";", ",", ")", ":", "("].iter().any(|it| self.is_sign(end + 1, it));
                (end, is_type && ends && self.tokens.get(end).is_some_and(|it| it.is_name()))
            }
            Language::Python => return,
        };
        if is_foreign && !is_keyword(self.tokens[name].text) {
            let text = self.tokens[name].text;
            self.foreign.insert(text);
            self.variables.insert(text, None);
        }
    }

    /// Returns true if a parameter of a Go function begins here: a name and a type behind it.
    fn begins_parameter(&self, at: usize) -> bool {
        let is_first = at > 0 && (self.tokens[at - 1].is("(") || self.tokens[at - 1].is(","));
        let mut end = at + 1;
        while ["*", "[", "]", "..."].iter().any(|it| self.is_sign(end, it)) {
            end += 1;
        }
        let is_type = self.tokens.get(end).is_some_and(|it| it.is_name());
        let (path, after) = read_path(self.tokens, end);
        let ends = self.is_sign(after, ",") || self.is_sign(after, ")") || self.is_sign(after, "{");
        // `a * b` in a call looks alike, but for the space that nobody reads here.
        let is_own = self.scope.resolve(self.index, &path).is_none();
        is_first && is_type && ends && is_own && self.tokens[at].line == self.tokens[end].line
    }

    /// Returns true if the file names a type, or the one that it builds.
    fn is_mentioned(&self, owner: &str) -> bool {
        let built = owner.strip_suffix(".Builder").unwrap_or(owner);
        self.mentioned.contains(owner) || self.mentioned.contains(built)
    }

    /// The bracket that closes one.
    fn find_close(&self, at: usize) -> Option<usize> {
        let mut depth = 0;
        for (place, token) in self.tokens.iter().enumerate().skip(at) {
            match token.text {
                _ if token.kind != super::tokens::TokenKind::Sign => {}
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(place);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The bracket that opens what closes here.
    fn find_open(&self, at: usize) -> Option<usize> {
        let mut depth = 0;
        for place in (0..=at).rev() {
            match self.tokens[place].text {
                _ if self.tokens[place].kind != super::tokens::TokenKind::Sign => {}
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(place);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn declare_variable(&mut self, at: usize, ty: &str) {
        let is_free = self.tokens[at].is_name()
            && !is_keyword(self.tokens[at].text)
            && !at.checked_sub(1).is_some_and(|it| self.tokens[it].is_join());
        if is_free {
            self.variables.insert(self.tokens[at].text, Some(ty.to_owned()));
            self.foreign.remove(self.tokens[at].text);
        }
    }

    /// Notes what is declared with a type: variables and functions around its name.
    fn declare(&mut self, first: usize, last: usize, ty: &str) {
        match self.index.language {
            Language::Go => self.declare_before(first, ty),
            Language::Python => self.declare_annotated(first, ty),
            Language::Java | Language::Cpp => self.declare_behind(last, ty),
        }
    }

    /// Go: `name *pkg.Type`, `names []*pkg.Type`, `func name(…) (*pkg.Type, error)`.
    fn declare_before(&mut self, first: usize, ty: &str) {
        let mut at = first;
        while let Some(before) = at.checked_sub(1) {
            let token = self.tokens[before];
            let is_open = token.is("]");
            if is_open {
                let Some(open) = self.find_open(before) else { return };
                at = open;
                let is_map = at.checked_sub(1).is_some_and(|it| self.tokens[it].text == "map");
                at -= usize::from(is_map);
            } else if token.is("*") || token.is("...") || token.text == "chan" {
                at = before;
            } else {
                break;
            }
        }
        let Some(before) = at.checked_sub(1) else { return };
        let token = self.tokens[before];
        if token.is_name() {
            self.declare_variable(before, ty);
            let mut more = before;
            while more >= 2 && self.tokens[more - 1].is(",") && self.tokens[more - 2].is_name() {
                more -= 2;
                self.declare_variable(more, ty);
            }
            return;
        }
        let close = match () {
            () if token.is(")") => before,
            () if token.is("(") && before > 0 && self.tokens[before - 1].is(")") => before - 1,
            () => return,
        };
        self.declare_function(close, ty);
    }

    /// Notes the function whose parameters end here.
    fn declare_function(&mut self, close: usize, ty: &str) {
        let name = self.find_open(close).and_then(|it| it.checked_sub(1)).map(|it| self.tokens[it]);
        if let Some(name) = name.filter(|it| it.is_name()) {
            self.functions.insert(name.text, ty.to_owned());
        }
    }

    /// Python: `name: Type`, `name: List[Type]`, `def name(…) -> Type`.
    fn declare_annotated(&mut self, first: usize, ty: &str) {
        let mut at = first;
        while at > 0 && !self.tokens[at - 1].is(":") && !self.tokens[at - 1].is(">") {
            let token = self.tokens[at - 1];
            if !(token.is("[") || token.is_name() || token.is_join())
                || token.line < self.tokens[first].line
            {
                return;
            }
            at -= 1;
        }
        if at >= 2 && self.tokens[at - 1].is(":") {
            self.declare_variable(at - 2, ty);
        } else if at >= 3 && self.tokens[at - 2].is("-") && self.tokens[at - 3].is(")") {
            self.declare_function(at - 3, ty);
        }
    }

    /// Java and C++: `Type name`, `const Type& name`, `List<Type> names`, `Type name(…)`.
    fn declare_behind(&mut self, last: usize, ty: &str) {
        let mut at = last + 1;
        while let Some(token) = self.tokens.get(at) {
            let is_between = [">", "*", "&", "[", "]", "..."].iter().any(|it| token.is(it))
                || matches!(token.text, "const" | "final");
            if !is_between {
                break;
            }
            at += 1;
        }
        let Some(name) = self.tokens.get(at).filter(|it| it.is_name()) else { return };
        self.declare_variable(at, ty);
        // `Type Class::name(…)` defines a function, too.
        let (path, end) = read_path(self.tokens, at);
        if self.is_sign(end, "(") {
            let function = path.last().copied().unwrap_or(name.text);
            self.functions.insert(function, ty.to_owned());
        }
    }

    /// Notes the type of what a value is assigned to: the value begins here.
    fn assign(&mut self, first: usize, ty: Option<String>) {
        if let Some(target) = self.find_target(first) {
            self.foreign.remove(self.tokens[target].text);
            self.variables.insert(self.tokens[target].text, ty);
        }
    }

    /// Forgets the type of a variable that gets another value here.
    fn forget_assigned(&mut self, first: usize) {
        let is_new =
            self.find_target(first).filter(|it| self.variables.contains_key(self.tokens[*it].text));
        if let Some(target) = is_new {
            self.variables.insert(self.tokens[target].text, None);
        }
    }

    /// The variable that the value at a place is assigned to, or that walks over it.
    fn find_target(&self, first: usize) -> Option<usize> {
        let mut at = self.find_start_of_value(first);
        let before = at.checked_sub(1)?;
        let token = self.tokens[before];
        if token.text == "range" || token.text == "in" && token.is_name() {
            at = before;
            while at > 0 && (self.tokens[at - 1].is("=") || self.tokens[at - 1].is(":")) {
                at -= 1;
            }
            return at.checked_sub(1).filter(|it| self.tokens[*it].is_name());
        }
        if token.is(":") && matches!(self.index.language, Language::Java | Language::Cpp) {
            return before.checked_sub(1).filter(|it| self.tokens[*it].is_name());
        }
        if !token.is("=") {
            return None;
        }
        at = before - usize::from(before > 0 && self.tokens[before - 1].is(":"));
        let mut target = at.checked_sub(1).filter(|it| self.tokens[*it].is_name())?;
        while target >= 2 && self.tokens[target - 1].is(",") && self.tokens[target - 2].is_name() {
            target -= 2;
        }
        (!target.checked_sub(1).is_some_and(|it| self.tokens[it].is_join())).then_some(target)
    }

    /// The place where the value begins that a name is a part of: before `&`, `new(`, `make([]*`
    /// and `std::make_unique<`.
    fn find_start_of_value(&self, first: usize) -> usize {
        let mut at = first;
        while let Some(before) = at.checked_sub(1) {
            let token = self.tokens[before];
            let is_call = |it: &Token<'_>| {
                matches!(
                    it.text,
                    "new" | "make" | "make_unique" | "make_shared" | "await" | "append"
                )
            };
            let is_passed = ["&", "*", "[", "]", "(", "<"].iter().any(|it| token.is(it))
                || is_call(&token)
                || token.is_join()
                || token.is_name() && self.tokens.get(before + 1).is_some_and(|it| it.is_join());
            let is_plain_open = (token.is("(") || token.is("["))
                && !before.checked_sub(1).is_some_and(|it| {
                    is_call(&self.tokens[it])
                        || self.tokens[it].is_join()
                        || self.tokens[it].is("(")
                        || self.tokens[it].is("=")
                })
                && token.is("(");
            if !is_passed || is_plain_open || token.line + 1 < self.tokens[first].line {
                break;
            }
            at = before;
        }
        at
    }
}

/// Returns true if a member says by its form that it is generated.
fn is_telling_member(language: Language, member: &str) -> bool {
    let starts = |prefixes: &[&str]| {
        prefixes.iter().any(|it| member.len() > it.len() && member.starts_with(it))
    };
    match language {
        Language::Go => starts(&["Get"]),
        Language::Java => starts(&["get", "set", "add", "has", "clear", "put"]),
        Language::Cpp => starts(&["set_", "mutable_", "has_", "clear_", "add_", "release_"]),
        Language::Python => member.ends_with("_FIELD_NUMBER"),
    }
}

/// Returns true if a name cannot be that of a variable.
fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "return"
            | "func"
            | "range"
            | "case"
            | "var"
            | "const"
            | "type"
            | "new"
            | "else"
            | "in"
            | "extends"
            | "implements"
            | "throws"
            | "instanceof"
            | "static"
            | "public"
            | "private"
            | "override"
            | "noexcept"
            | "not"
            | "and"
            | "or"
            | "if"
            | "is"
    )
}

/// The type of what every generated type has, as `newBuilder` of Java.
fn find_common_result(index: &NameIndex<'_>, owner: &str, member: &str) -> Option<String> {
    let built = owner.strip_suffix(".Builder").unwrap_or(owner);
    let stub = |name: &str| {
        let full = format!("{owner}.{name}");
        index.is_type(&full).then_some(full)
    };
    match (index.language, member) {
        (Language::Java, "newBuilder" | "toBuilder") => Some(format!("{built}.Builder")),
        (Language::Java, "build" | "buildPartial" | "getDefaultInstance" | "parseFrom") => {
            Some(built.to_owned())
        }
        (Language::Java, "mergeFrom" | "clear" | "clone") => Some(owner.to_owned()),
        (Language::Java, "newBlockingStub" | "newStub" | "newFutureStub") => {
            let service = owner.rsplit('.').next()?.strip_suffix("Grpc")?;
            let kind = member.strip_prefix("new")?;
            stub(&format!("{service}{kind}"))
        }
        (Language::Java, "get" | "next" | "orElse" | "orElseThrow" | "iterator" | "stream") => {
            Some(owner.to_owned())
        }
        (Language::Cpp, "NewStub") => stub("Stub"),
        (
            Language::Cpp,
            "default_instance" | "get" | "at" | "begin" | "New" | "Get" | "Mutable",
        ) => Some(owner.to_owned()),
        (Language::Python, "add" | "FromString" | "values" | "get") => Some(owner.to_owned()),
        _ => None,
    }
}
