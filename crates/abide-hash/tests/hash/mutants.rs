//! Whatever token of a proto is changed, its hashes change exactly where its
//! meaning does. What it means is read off its descriptor, which knows nothing
//! of facts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_hash::TreeHashes;
use abide_schema::{Edition, Element, FileDecl, Message, Part, SourceFile, Tree, encode_file};
use abide_syntax::{Lexer, TokenKind};

use super::{Numbers, corpora, errors, protos::protos, vectors};

pub(crate) type Token<'t> = (TokenKind, &'t [u8]);

pub(crate) fn tokens(text: &[u8]) -> Vec<Token<'_>> {
    let mut lexer = Lexer::new(text, 0);
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next_token();
        if token.kind == TokenKind::End {
            return tokens;
        }
        tokens.push((token.kind, token.span.of(text)));
    }
}

/// A statement: its tokens up to its block or its end.
#[derive(Clone, Copy)]
struct Statement {
    begin: usize,
    /// Behind its last token, or at the brace that opens its block.
    end: usize,
    has_block: bool,
}

/// Every statement of a file, those in blocks included.
fn statements(tokens: &[Token<'_>]) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut begin = 0;
    // Within the brackets and braces of values.
    let mut depth = 0;
    for (at, (kind, _)) in tokens.iter().enumerate() {
        let words = &tokens[begin..at];
        let opens_block = words.first().is_some_and(|(_, word)| *word != b"option")
            && depth == 0
            && *kind == TokenKind::Symbol(b'{');
        match kind {
            TokenKind::Symbol(b'}') if depth == 0 => begin = at + 1,
            TokenKind::Symbol(b';') if depth == 0 => {
                found.push(Statement { begin, end: at + 1, has_block: false });
                begin = at + 1;
            }
            _ if opens_block => {
                found.push(Statement { begin, end: at, has_block: true });
                begin = at + 1;
            }
            TokenKind::Symbol(b'{' | b'[') => depth += 1,
            TokenKind::Symbol(b'}' | b']') => depth -= 1,
            _ => {}
        }
    }
    found
}

/// Other words of the kind that a word is of.
const WORDS: [&[&[u8]]; 11] = [
    &[b"int32", b"sint64", b"fixed32", b"string", b"bytes", b"bool", b"double"],
    &[b"optional", b"repeated", b"required"],
    &[b"true", b"false"],
    &[b"EXPLICIT", b"IMPLICIT", b"LEGACY_REQUIRED"],
    &[b"OPEN", b"CLOSED"],
    &[b"PACKED", b"EXPANDED"],
    &[b"VERIFY", b"NONE"],
    &[b"LENGTH_PREFIXED", b"DELIMITED"],
    &[b"ALLOW", b"LEGACY_BEST_EFFORT"],
    &[b"STRING", b"CORD", b"VIEW"],
    &[b"export", b"local"],
];

/// A token in another way, if it can be.
fn other(token: Token<'_>, numbers: &mut Numbers) -> Option<Vec<u8>> {
    let (kind, text) = token;
    match kind {
        TokenKind::Int => {
            let number: u64 = std::str::from_utf8(text).ok()?.parse().ok()?;
            let by = [1, 20][numbers.below(2)];
            Some(number.checked_add(by)?.to_string().into_bytes())
        }
        TokenKind::Float => Some([b"1", text].concat()),
        TokenKind::String => {
            let (quote, rest) = text.split_last()?;
            Some([rest, b"x", &[*quote]].concat())
        }
        TokenKind::Symbol(b'(') => Some(b"( stream".to_vec()),
        TokenKind::Ident if text == b"stream" => Some(Vec::new()),
        TokenKind::Ident => {
            let words = WORDS.iter().find(|words| words.contains(&text));
            match words {
                Some(words) => Some(words[numbers.below(words.len())].to_vec()),
                None if numbers.one_in(8) => Some(Vec::new()),
                None => Some([text, b"x"].concat()),
            }
        }
        _ => None,
    }
    .filter(|other| *other != text)
}

/// What a statement is about, in a word.
fn about(words: &[Token<'_>]) -> String {
    const KEYWORDS: [&[u8]; 15] = [
        b"syntax",
        b"edition",
        b"package",
        b"import",
        b"option",
        b"message",
        b"enum",
        b"service",
        b"rpc",
        b"oneof",
        b"extend",
        b"reserved",
        b"extensions",
        b"export",
        b"local",
    ];
    let first = words.first().map_or(&b""[..], |it| it.1);
    let has = |text: &[u8]| words.iter().any(|it| it.1 == text);
    let word = match () {
        () if KEYWORDS.contains(&first) => String::from_utf8_lossy(first).into_owned(),
        () if has(b"map") && has(b"<") => "map".to_owned(),
        () if has(b"group") => "group".to_owned(),
        // `NAME = NUMBER` is a value, `TYPE NAME = NUMBER` a field.
        () if words.get(1).is_some_and(|it| it.1 == b"=") => "value".to_owned(),
        () => "field".to_owned(),
    };
    let options = if word != "option" && has(b"[") { " with options" } else { "" };
    word + options
}

/// The text with one thing in another way, what that is about, and the words
/// of the statement it stands in.
fn mutant(text: &[u8], turn: usize, numbers: &mut Numbers) -> Option<(Vec<u8>, String, Vec<u8>)> {
    let tokens = tokens(text);
    let statements = statements(&tokens);
    // Each has its turn; a few rounds are enough.
    let statement = *statements.get(turn % statements.len().max(1))?;
    let words = &tokens[statement.begin..statement.end];
    let mut what = about(words);
    let mut out: Vec<Vec<u8>> = tokens.iter().map(|it| it.1.to_vec()).collect();
    if !statement.has_block && numbers.one_in(4) {
        what.push_str(" less");
        out.drain(statement.begin..statement.end);
    } else {
        let at = statement.begin + numbers.below(words.len());
        out[at] = other(tokens[at], numbers)?;
    }
    let said: Vec<&[u8]> = words.iter().map(|it| it.1).collect();
    Some((out.join(&b' '), what, said.concat()))
}

/// What says how an element is released and not what it is.
const SAYS_NOTHING: [&[u8]; 12] = [
    b"file_status",
    b"message_status",
    b"field_status",
    b"versioning",
    b"_migrate",
    b"package_version_status",
    b"work_in_progress",
    b"migration",
    b"previous_type",
    b"next_major_only",
    b"lossy",
    b"file_policy",
];

/// What has the same meaning as nothing.
const SAYS_DEFAULT: [&[u8]; 5] = [
    b"cc_enable_arenas=true",
    b"deprecated=false",
    // In a file without a class, it means nothing.
    b"java_multiple_files=",
    // The class that Java derives for `before.proto`.
    b"java_outer_classname=\"Before\"",
    b"optimize_for=SPEED",
];

/// What stands in a descriptor, and has a meaning by what follows from it alone.
const SAYS_HOW: [&[u8]; 3] = [b"syntax=", b"edition=", b"import"];

fn parsed(path: &str, text: &[u8]) -> Arc<FileDecl> {
    let path: Arc<str> = path.into();
    let (display, text) = (Arc::clone(&path), text.into());
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
}

/// A file with all that it imports, in parsed form.
fn with_imports(path: &str, files: &BTreeMap<String, Arc<FileDecl>>) -> Vec<Arc<FileDecl>> {
    let mut open = vec![path.to_owned()];
    let mut known = BTreeSet::new();
    while let Some(path) = open.pop() {
        if known.contains(&path) || !files.contains_key(&path) {
            continue;
        }
        open.extend(files[&path].imports.iter().map(|it| it.path.to_string()));
        known.insert(path);
    }
    known.into_iter().map(|it| Arc::clone(&files[&it])).collect()
}

struct Linked {
    errors: usize,
    descriptor: Vec<u8>,
    own: abide_hash::SemanticHash,
    closure: abide_hash::SemanticHash,
}

fn linked(path: &str, decls: Vec<Arc<FileDecl>>) -> Option<Linked> {
    let tree = Tree::link(decls);
    let file = tree.files().find(|it| it.path() == path)?;
    let hashes = TreeHashes::of(&tree).file(path)?;
    Some(Linked {
        errors: errors(&tree).len(),
        descriptor: encode_file(&tree, file.id, false),
        own: hashes.own,
        closure: hashes.closure,
    })
}

/// Tries mutants of a file; counts what they were about.
fn try_file(
    path: &str,
    text: &[u8],
    files: &BTreeMap<String, Arc<FileDecl>>,
    count: usize,
    numbers: &mut Numbers,
    seen: &mut BTreeMap<(String, bool), usize>,
) {
    let Some(before) = linked(path, with_imports(path, files)) else { return };
    let first = numbers.below(1000);
    for turn in first..first + count {
        let Some((other, what, said)) = mutant(text, turn, numbers) else { continue };
        let mut all = files.clone();
        all.insert(path.to_owned(), parsed(path, &other));
        let Some(after) = linked(path, with_imports(path, &all)) else { continue };
        if after.errors > before.errors {
            continue;
        }
        let has = |part: &&[u8]| said.windows(part.len()).any(|it| it == *part);
        let shown = || format!("{path}: {what}: {}", String::from_utf8_lossy(&said));
        let changed = before.own != after.own;
        assert!(!changed || before.closure != after.closure, "{}", shown());
        if SAYS_NOTHING.iter().any(has) {
            // Other fields of that option, and other options beside it, do say something.
            let alone = said.starts_with(b"option") && !has(&&b"file_policy"[..]);
            assert!(!alone || !changed, "{}", shown());
            *seen.entry((format!("release {what}"), changed)).or_default() += 1;
            continue;
        }
        let skipped = SAYS_HOW.iter().any(|it| said.starts_with(it));
        if skipped || SAYS_DEFAULT.iter().any(has) {
            continue;
        }
        let means_another = before.descriptor != after.descriptor;
        // Within all that inherits a feature it may be set anew.
        let is_overridden = said.starts_with(b"optionfeatures") && !changed;
        assert!(changed == means_another || is_overridden, "{}", shown());
        *seen.entry((what, changed)).or_default() += 1;
    }
}

/// That there were mutants of all these that mean something else.
fn assert_seen(seen: &BTreeMap<(String, bool), usize>, all: &[&str]) {
    for what in all {
        assert!(seen.contains_key(&((*what).to_owned(), true)), "no {what}: {seen:#?}");
    }
}

#[test]
fn a_mutant_has_another_hash_where_it_has_another_descriptor() {
    let mut seen = BTreeMap::new();
    for case in vectors::cases() {
        // A vector more does not change what is tried of the others.
        let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut numbers = Numbers(name.bytes().map(u64::from).sum());
        let texts = protos(&case);
        let files: BTreeMap<String, Arc<FileDecl>> = texts
            .iter()
            .map(|(path, text)| (path.clone(), parsed(path, text.as_bytes())))
            .collect();
        for (path, text) in &texts {
            try_file(path, text.as_bytes(), &files, 70, &mut numbers, &mut seen);
        }
    }
    assert_seen(
        &seen,
        &[
            "enum",
            "export",
            "extensions",
            "extensions with options less",
            "field",
            "field less",
            "field with options",
            "local",
            "map",
            "message",
            "oneof",
            "option",
            "option less",
            "package",
            "reserved",
            "reserved less",
            "rpc",
            "rpc less",
            "service",
            "value",
            "value less",
        ],
    );
    assert!(seen.contains_key(&("release option less".to_owned(), false)), "{seen:#?}");
}

#[test]
fn a_mutant_of_a_real_file_has_another_hash_where_it_has_another_descriptor() {
    let mut numbers = Numbers(12);
    let mut seen = BTreeMap::new();
    for (_, files, deps) in corpora::trees() {
        let all: BTreeMap<String, Arc<FileDecl>> = deps
            .iter()
            .chain(&files)
            .map(|(path, text)| (path.clone(), parsed(path, text)))
            .collect();
        for _ in 0..20 {
            let (path, text) = &files[numbers.below(files.len())];
            try_file(path, text, &all, 6, &mut numbers, &mut seen);
        }
    }
    if !seen.is_empty() {
        assert_seen(&seen, &["field", "field less", "field with options", "message", "option"]);
    }
}

/// Everything that a type, file or package refers to, by full names.
#[derive(Default)]
struct References(BTreeMap<String, BTreeSet<String>>);

impl References {
    fn of(tree: &Tree) -> References {
        let mut all = References::default();
        for file in tree.files() {
            let (path, package) =
                (format!("file {}", file.path()), format!("package {}", file.package().name()));
            let mut add = |from: &str, to: String| {
                // Protobuf's own types are known by name.
                let theirs = to.starts_with("google.protobuf.");
                let ours = !file.path().starts_with("google/protobuf/");
                if !(theirs && ours) {
                    all.0.entry(from.to_owned()).or_default().insert(to);
                }
            };
            for message in file.all_messages().filter(|it| !it.is_map_entry()) {
                let name = message.full_name();
                add(&package, name.clone());
                add(&path, name.clone());
                if let Some(parent) = message.parent() {
                    add(&parent.full_name(), name);
                }
            }
            for item in file.all_enums() {
                let name = item.full_name();
                add(&package, name.clone());
                add(&path, name.clone());
                if let Some(parent) = item.parent() {
                    add(&parent.full_name(), name);
                }
            }
            for field in file.all_fields() {
                let entry = field.parent().filter(|it| it.is_map_entry());
                let scope = match entry {
                    Some(entry) => entry.parent(),
                    None => field.parent(),
                };
                let ty = field.message_type().filter(|it| !it.is_map_entry());
                let mut targets: Vec<String> = ty.map(|it| it.full_name()).into_iter().collect();
                targets.extend(field.enum_type().map(|it| it.full_name()));
                if field.is_extension() {
                    targets.extend(field.extendee().map(|it| it.full_name()));
                }
                for to in targets {
                    match scope {
                        Some(scope) => add(&scope.full_name(), to),
                        None => {
                            add(&package, to.clone());
                            add(&path, to);
                        }
                    }
                }
            }
            for method in file.services().flat_map(|it| it.methods()) {
                let ends = [method.input(), method.output()];
                for to in ends.into_iter().flatten() {
                    add(&package, to.full_name());
                    add(&path, to.full_name());
                }
            }
        }
        all
    }

    /// Whoever reaches a type, itself included.
    fn who_reaches(&self, name: &str) -> BTreeSet<&str> {
        let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (from, to) in self.0.iter().flat_map(|(from, all)| all.iter().map(move |it| (from, it)))
        {
            users.entry(to).or_default().push(from);
        }
        let mut reached = BTreeSet::new();
        let mut open = vec![name];
        while let Some(name) = open.pop() {
            for from in users.get(name).into_iter().flatten() {
                if reached.insert(*from) {
                    open.push(from);
                }
            }
        }
        reached
    }
}

/// Everything that has a closure, by a name that tells its kind.
fn closures(hashes: &TreeHashes) -> BTreeMap<String, abide_hash::SemanticHash> {
    let files = hashes.files().map(|(name, it)| (format!("file {name}"), it.closure));
    let packages = hashes.packages().map(|(name, it)| (format!("package {name}"), it.closure));
    let messages = hashes.messages().map(|(name, it)| (name.to_owned(), it.closure));
    files.chain(packages).chain(messages).collect()
}

/// Reserves a name in a message, which changes what that means and nothing else,
/// and sees whose closure changed; tells how many did.
fn change_a_leaf(
    files: &BTreeMap<String, Arc<FileDecl>>,
    (tree, before): (&Tree, &BTreeMap<String, abide_hash::SemanticHash>),
    message: Message<'_>,
) -> Option<usize> {
    let file = message.file();
    let (name, text) = (message.full_name(), file.decl().source_text()?);
    let at = Element::Message(message).place(Part::Name).span.end as usize;
    let opens = at + text[at..].iter().position(|it| *it == b'{')? + 1;
    let quote = if file.decl().edition >= Edition::Edition2023 { "" } else { "\"" };
    let added = format!(" reserved {quote}never_used{quote};");
    let changed = [&text[..opens], added.as_bytes(), &text[opens..]].concat();
    let mut files = files.clone();
    files.insert(file.path().to_owned(), parsed(file.path(), &changed));
    let other = Tree::link(files.into_values().collect());
    assert_eq!(errors(tree), errors(&other), "{name}");
    let after = closures(&TreeHashes::of(&other));
    let found: BTreeSet<&str> =
        before.iter().filter(|(name, it)| after[*name] != **it).map(|it| it.0.as_str()).collect();
    let references = References::of(tree);
    let mut wanted = references.who_reaches(&name);
    wanted.insert(&name);
    assert_eq!(found, wanted, "{name}");
    Some(wanted.len())
}

/// Changes some messages of a tree, or all where it has no more.
fn change_leaves(
    files: &BTreeMap<String, Arc<FileDecl>>,
    count: usize,
    numbers: &mut Numbers,
) -> Vec<usize> {
    let tree = Tree::link(files.values().map(Arc::clone).collect());
    let before = closures(&TreeHashes::of(&tree));
    let ours = tree.files().filter(|it| !it.path().starts_with("google/protobuf/"));
    let mut messages: Vec<Message<'_>> =
        ours.flat_map(|it| it.all_messages()).filter(|it| !it.is_map_entry()).collect();
    numbers.shuffle(&mut messages);
    messages.truncate(count);
    messages.into_iter().filter_map(|it| change_a_leaf(files, (&tree, &before), it)).collect()
}

#[test]
fn a_changed_leaf_changes_the_closures_of_exactly_those_who_reach_it() {
    let mut numbers = Numbers(13);
    let mut most = 0;
    for case in vectors::cases() {
        let texts = protos(&case);
        let files: BTreeMap<String, Arc<FileDecl>> = texts
            .iter()
            .map(|(path, text)| (path.clone(), parsed(path, text.as_bytes())))
            .collect();
        let reached = change_leaves(&files, usize::MAX, &mut numbers);
        most = most.max(reached.into_iter().max().unwrap_or_default());
    }
    assert!(most > 5, "{most}");
    let mut found = Vec::new();
    for (_, files, deps) in corpora::trees() {
        let files: BTreeMap<String, Arc<FileDecl>> = deps
            .iter()
            .chain(&files)
            .map(|(path, text)| (path.clone(), parsed(path, text)))
            .collect();
        found.extend(change_leaves(&files, 5, &mut numbers));
    }
    assert!(found.is_empty() || found.iter().any(|it| *it > 20), "{found:?}");
}
