//! Finds declarations in Java classes.

use std::fs;
use std::path::Path;

use abide_harness::Result;

use super::declared::{Declared, read};
use super::tokens::{find_closing_bracket, is_name, join_tokens, split_arguments, split_tokens};

pub(super) fn scan(out: &Path) -> Result<Declared> {
    let mut declared = Declared::new();
    let mut folders = vec![out.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some("java".as_ref()) {
                let code = read(&path)?;
                let tokens = split_tokens(&code);
                let package = tokens.iter().position(|token| *token == "package").map(|at| {
                    let end = tokens[at..].iter().position(|it| *it == ";").unwrap_or(0);
                    join_tokens(&tokens[at + 1..at + end])
                });
                let mut scan = Scan { tokens, declared: &mut declared };
                let all = 0..scan.tokens.len();
                scan.block(all, &package.unwrap_or_default(), false);
            }
        }
    }
    Ok(declared)
}

/// Families that every message or enum has, which its own symbol covers; mirrors of
/// getters; and everything with an internal name.
pub(super) fn is_left_out(symbol: &str, signature: &str, model: &Declared) -> bool {
    const EVERYWHERE: &[&str] = &[
        "getDescriptor",
        "getDescriptorForType",
        "isInitialized",
        "writeTo",
        "getSerializedSize",
        "equals",
        "hashCode",
        "parseFrom",
        "parseDelimitedFrom",
        "newBuilderForType",
        "newBuilder",
        "toBuilder",
        "parser",
        "getParserForType",
        "getDefaultInstanceForType",
        "clear",
        "build",
        "buildPartial",
        "mergeFrom",
        "getDefaultInstance",
        "registerAllExtensions",
        "getNumber",
        "valueOf",
        "forNumber",
        "getValueDescriptor",
        "internalGetValueMap",
        "internalGetVerifier",
        "ordinal",
        "name",
        "values",
        "index",
        "value",
        "getName",
        "toString",
        // Extensions are modelled by their identifiers.
        "setExtension",
        "addExtension",
        "clearExtension",
        // gRPC: the functions that create a stub are lost with the stub.
        "SERVICE_NAME",
        "newStub",
        "newBlockingStub",
        "newFutureStub",
        "bindService",
        "getServiceDescriptor",
        // For the runtime.
        "Builder",
        "UNRECOGNIZED_VALUE",
    ];
    let (scope, simple) = symbol.rsplit_once('.').unwrap_or(("", symbol));
    let of_part = simple.trim_end_matches(|it: char| it.is_ascii_digit());
    let is_part = of_part != simple && ["values", "valueOf", "forNumber"].contains(&of_part);
    let is_grpc_method = scope.ends_with("Grpc") && simple.ends_with("Method");
    if is_part || is_grpc_method || EVERYWHERE.contains(&simple) || simple.starts_with("internal") {
        return true;
    }
    // A message has all getters of its builder and of their common interface.
    let message = scope.strip_suffix(".Builder").or(scope.strip_suffix("OrBuilder"));
    message.is_some_and(|message| {
        let signature = signature.replace(&format!("{message}."), "");
        let own = format!("{message}.{simple}");
        named(model, &own).any(|known| {
            // A `ProtocolStringList` is a `List<String>`.
            let is_list = signature == "java.util.List<String>()" && simple.ends_with("List");
            let is_same = known.replace(&format!("{message}."), "") == signature;
            is_list || is_same
        })
    }) || is_mutable_map(scope, simple, model)
}

/// The claimed signatures with this name.
fn named<'m>(model: &'m Declared, name: &'m str) -> impl Iterator<Item = &'m str> {
    let from = (name.to_owned(), String::new());
    model.range(from..).take_while(move |it| it.0 == name).map(|it| it.1.as_str())
}

/// `getMutableFoo` of a map is deprecated in favour of `putFoo`, and
/// `putFooBuilderIfAbsent` is newer than many runtimes in use.
fn is_mutable_map(scope: &str, simple: &str, model: &Declared) -> bool {
    let field = simple
        .strip_prefix("getMutable")
        .or(simple.strip_prefix("put").and_then(|rest| rest.strip_suffix("BuilderIfAbsent")));
    field.is_some_and(|field| {
        let put = format!("{scope}.put{field}");
        named(model, &put).next().is_some()
    })
}

struct Scan<'c, 'd> {
    tokens: Vec<&'c str>,
    declared: &'d mut Declared,
}

impl Scan<'_, '_> {
    /// Scans the members of a class, or the top level of a file.
    fn block(&mut self, range: std::ops::Range<usize>, scope: &str, all_public: bool) {
        let (mut at, mut start) = (range.start, range.start);
        while at < range.end {
            match self.tokens[at] {
                "@" => {
                    // An annotation is not a part of the declaration after it.
                    let mut end = at + 1;
                    while self.tokens.get(end + 1) == Some(&".") {
                        end += 2;
                    }
                    let is_interface = self.tokens.get(end) == Some(&"interface");
                    if self.tokens.get(end + 1) == Some(&"(") && !is_interface {
                        end = find_closing_bracket(&self.tokens, end + 1);
                    }
                    self.tokens[at..=end].fill("");
                    at = end;
                }
                "(" => at = find_closing_bracket(&self.tokens, at),
                "=" => {
                    while at < range.end && self.tokens[at] != ";" {
                        if matches!(self.tokens[at], "{" | "(") {
                            at = find_closing_bracket(&self.tokens, at);
                        }
                        at += 1;
                    }
                    self.member(start..at, scope, all_public);
                    start = at + 1;
                }
                ";" => {
                    self.member(start..at, scope, all_public);
                    start = at + 1;
                }
                "{" => {
                    let end = find_closing_bracket(&self.tokens, at);
                    self.braced(start, at, end, scope, all_public);
                    at = end;
                    start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn braced(&mut self, start: usize, open: usize, end: usize, scope: &str, all_public: bool) {
        let head: Vec<&str> =
            self.tokens[start..open].iter().copied().filter(|it| !it.is_empty()).collect();
        let kind = head.iter().position(|token| matches!(*token, "class" | "interface" | "enum"));
        let Some(kind) = kind.filter(|_| !head.contains(&"(")) else {
            self.member(start..open, scope, all_public);
            return;
        };
        if !all_public && !head.contains(&"public") {
            // A large enum inherits its constants from interfaces `Foo0`, `Foo1`.
            let part = head.get(kind + 1).filter(|_| head[kind] == "interface");
            let is_part = |it: &&&str| it.ends_with(|end: char| end.is_ascii_digit());
            if let Some(part) = part.filter(is_part) {
                let name = part.trim_end_matches(|it: char| it.is_ascii_digit());
                self.block(open + 1..end, &format!("{scope}.{name}"), true);
            }
            return;
        }
        let Some(name) = head.get(kind + 1) else { return };
        let name = format!("{scope}.{name}").trim_start_matches('.').to_owned();
        let word = head[kind].to_owned();
        self.declared.insert((name.clone(), word.clone()));
        let base =
            head.iter().position(|it| *it == "extends").map(|at| join_tokens(&head[at + 1..]));
        if let Some(base) = base.filter(|_| word == "class") {
            let known = [
                "com.google.protobuf.GeneratedMessageLite",
                "com.google.protobuf.GeneratedMessage",
            ];
            let base = known.into_iter().find(|known| base.starts_with(known)).unwrap_or(&base);
            self.declared.insert((name.clone(), format!("class:{base}")));
        }
        let mut open = open;
        if word == "enum" {
            let simple = name.rsplit('.').next().unwrap_or(&name).to_owned();
            let is_case = simple.ends_with("Case");
            loop {
                // `@java.lang.Deprecated`
                while self.tokens[open + 1] == "@" {
                    open += 6;
                }
                if !is_name(self.tokens[open + 1]) {
                    break;
                }
                let value = self.tokens[open + 1];
                let signature =
                    if is_case { "case".to_owned() } else { format!("constant {name}") };
                self.declared.insert((format!("{name}.{value}"), signature));
                open = find_closing_bracket(&self.tokens, open + 2);
                if self.tokens[open + 1] == "," {
                    open += 1;
                }
            }
            open += 1;
        }
        self.block(open + 1..end, &name, word == "interface");
    }

    fn member(&mut self, range: std::ops::Range<usize>, scope: &str, all_public: bool) {
        let head: Vec<&str> =
            self.tokens[range].iter().copied().filter(|it| !it.is_empty()).collect();
        let end = head.iter().position(|token| matches!(*token, "=" | "throws"));
        let is_public = all_public || head[..end.unwrap_or(head.len())].contains(&"public");
        if !is_public || head.first() == Some(&"import") {
            return;
        }
        let is_alias = head.contains(&"=") && head.contains(&"final");
        let mut head: Vec<&str> = head[..end.unwrap_or(head.len())]
            .iter()
            .copied()
            .filter(|it| !matches!(*it, "public" | "static" | "final" | "abstract" | "default"))
            .collect();
        if head.first() == Some(&"<") {
            let end = find_closing_bracket(&head, 0);
            head.drain(..=end);
        }
        let lang = |tokens: &[&str]| join_tokens(tokens).replace("java.lang.", "");
        let declared = match head.iter().position(|token| *token == "(") {
            Some(open) if open > 0 => {
                let end = find_closing_bracket(&head, open);
                let parameters = split_arguments(&head[open + 1..end]);
                let parameters: Vec<String> = parameters
                    .iter()
                    .map(|it| it.split_last().map_or(String::new(), |(_, ty)| lang(ty)))
                    .collect();
                let result = lang(&head[..open - 1]);
                (head[open - 1], format!("{result}({})", parameters.join(",")))
            }
            _ => {
                let Some((name, ty)) = head.split_last() else { return };
                let ty = lang(ty);
                let simple = scope.rsplit('.').next().unwrap_or(scope);
                let ty = match ty.find("GeneratedExtension<") {
                    Some(at) => ty[at..].to_owned(),
                    None if is_alias && ty == simple => format!("static final {scope}"),
                    None => ty,
                };
                (*name, ty)
            }
        };
        let name = format!("{scope}.{}", declared.0);
        self.declared.insert((name.trim_start_matches('.').to_owned(), declared.1));
    }
}
