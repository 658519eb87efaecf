//! Finds declarations in C++ headers.

use std::collections::BTreeMap;
use std::path::Path;

use abide_change::GeneratedSymbol;
use abide_harness::Result;
use abide_schema::File;

use super::declared::{Declared, read};
use super::tokens::{
    find_closing_bracket, is_name, join_tokens, normalize_signature as normal_text,
    split_arguments, split_tokens,
};

/// Keywords that callers do not depend on.
const NOISE: &[&str] = &[
    "inline",
    "static",
    "constexpr",
    "extern",
    "virtual",
    "explicit",
    "final",
    "override",
    "ABSL_ATTRIBUTE_LIFETIME_BOUND",
    "ABSL_ATTRIBUTE_REINITIALIZES",
    "typename",
];

pub(super) fn normal(symbol: &GeneratedSymbol, file: File<'_>) -> (String, String) {
    let signature = symbol.signature.trim_start_matches("static ");
    let signature = strip_namespace(&normal_text(signature), &namespace(file));
    (symbol.name.clone(), signature)
}

fn namespace(file: File<'_>) -> String {
    // As in the model, where keywords among the parts are mangled.
    let symbols = abide_change::list_symbols_of_file(abide_change::Language::Cpp, file);
    let found = symbols.into_iter().find(|symbol| symbol.signature == "namespace");
    found.map(|symbol| symbol.name).unwrap_or_default()
}

/// A signature without its own namespace.
fn strip_namespace(signature: &str, namespace: &str) -> String {
    if namespace.is_empty() {
        return signature.to_owned();
    }
    let prefix = format!("{namespace}::");
    let mut out = String::new();
    let mut rest = signature;
    while let Some(at) = rest.find(&prefix) {
        let is_whole =
            !rest[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_' || it == ':');
        out.push_str(&rest[..at]);
        if !is_whole {
            out.push_str(&prefix);
        }
        rest = &rest[at + prefix.len()..];
    }
    out + rest
}

pub(super) fn scan(out: &Path, files: &[File<'_>]) -> Result<Declared> {
    let mut declared = Declared::new();
    for file in files {
        let stem = file.path().strip_suffix(".proto").unwrap_or(file.path());
        for suffix in [".pb.h", ".grpc.pb.h"] {
            let path = out.join(format!("{stem}{suffix}"));
            if suffix == ".grpc.pb.h" && !path.exists() {
                continue;
            }
            let code = read(&path)?;
            let namespace = namespace(*file);
            let mut scan = Scan { tokens: split_tokens(&code), declared: &mut declared, namespace };
            let all = 0..scan.tokens.len();
            scan.block(all, &CppScope { name: String::new(), class: None, is_public: true });
        }
    }
    Ok(declared)
}

/// Families that every message, enum or service has, which the symbol of the type
/// covers, and everything with an internal name.
pub(super) fn is_left_out(symbol: &str) -> bool {
    const EVERYWHERE: &[&str] = &[
        "operator",
        "unknown_fields",
        "mutable_unknown_fields",
        "GetDescriptor",
        "GetReflection",
        "default_instance",
        "swap",
        "Swap",
        "UnsafeArenaSwap",
        "New",
        "CopyFrom",
        "MergeFrom",
        "IsInitialized",
        "Clear",
        "ByteSizeLong",
        "GetCachedSize",
        "GetMetadata",
        "GetTypeName",
        "kIndexInFileMessages",
        "Super_",
        "descriptor",
        "channel",
        "CheckTypeAndMergeFrom",
        // Extensions are modelled by their identifiers.
        "HasExtension",
        "ClearExtension",
        "ExtensionSize",
        "GetExtension",
        "MutableExtension",
        "SetExtension",
        "SetAllocatedExtension",
        "UnsafeArenaSetAllocatedExtension",
        "ReleaseExtension",
        "UnsafeArenaReleaseExtension",
        "AddExtension",
        "GetRepeatedExtension",
        "MutableRepeatedExtension",
        "SetRepeatedExtension",
        "GetExtensionReflection",
        // gRPC, besides the synchronous stub and service.
        "service_full_name",
        "StubInterface",
        "async",
        "async_interface",
        "experimental_async",
        "AsyncService",
        "CallbackService",
        // Generic services, whose stub has the methods of the service.
        "Stub",
        "GetRequestPrototype",
        "GetResponsePrototype",
        "CallMethod",
        "ProtobufInternalGetEnumDescriptor",
        "AbslParseFlag",
        "AbslUnparseFlag",
    ];
    let simple = symbol.rsplit("::").next().unwrap_or(symbol);
    EVERYWHERE.contains(&simple)
        || simple.starts_with('_')
        || simple.starts_with('~')
        // The overload for the enum itself, which the template also accepts.
        || simple.ends_with("_Name")
        || simple.contains("SENTINEL_DO_NOT_USE")
        || simple.contains("_DoNotUse")
        || simple.contains("internal")
        || simple.contains("Internal")
        || simple.ends_with("_globals_")
        || simple.ends_with("_class_data_")
        || simple.ends_with("TypeInternal")
        || simple.starts_with("descriptor_table_")
        || simple.starts_with("TableStruct_")
        || ["Async", "PrepareAsync", "With"].iter().any(|it| simple.starts_with(it))
        || symbol.contains("::StubInterface::") || symbol.contains("::async::")
        || symbol.rsplit("::").nth(1).is_some_and(|scope| scope.ends_with("_Stub"))
        || symbol.starts_with("google::protobuf::")
}

struct CppScope {
    /// The qualified name.
    name: String,
    /// The simple name of a class.
    class: Option<String>,
    is_public: bool,
}

struct Scan<'c, 'd> {
    tokens: Vec<&'c str>,
    declared: &'d mut Declared,
    namespace: String,
}

impl<'c> Scan<'c, '_> {
    /// Scans the declarations of a scope.
    fn block(&mut self, range: std::ops::Range<usize>, scope: &CppScope) {
        let mut aliases: BTreeMap<&'c str, String> = BTreeMap::new();
        let mut is_public = scope.is_public;
        let (mut at, mut start) = (range.start, range.start);
        while at < range.end {
            match self.tokens[at] {
                ":" if at == start + 1
                    && matches!(self.tokens[start], "public" | "private" | "protected") =>
                {
                    is_public = self.tokens[start] == "public";
                    start = at + 1;
                }
                "(" | "[[" => at = find_closing_bracket(&self.tokens, at),
                ";" => {
                    if is_public {
                        self.statement(start..at, scope, &mut aliases);
                    }
                    start = at + 1;
                }
                "{" => {
                    let end = find_closing_bracket(&self.tokens, at);
                    at = self.braced(start, at, end, scope, is_public, &mut aliases);
                    start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Scans a declaration with braces; returns its last token.
    fn braced(
        &mut self,
        start: usize,
        open: usize,
        end: usize,
        scope: &CppScope,
        is_public: bool,
        aliases: &mut BTreeMap<&'c str, String>,
    ) -> usize {
        let head: Vec<&'c str> = self.tokens[start..open].to_vec();
        let is_template = head.first() == Some(&"template");
        match head.first().copied() {
            Some("extern") if head.len() == 2 => {
                let inner = CppScope { name: scope.name.clone(), class: None, is_public: true };
                self.block(open + 1..end, &inner);
                return end;
            }
            Some("namespace") => {
                let path = join_tokens(&head[1..]);
                let name = qualify_name(&scope.name, &path);
                self.block(open + 1..end, &CppScope { name, class: None, is_public: true });
                return end;
            }
            Some("enum") => {
                let name = head.get(1).copied().filter(|name| is_name(name));
                if is_public {
                    self.enumeration(name, open + 1..end, scope);
                }
                return end + 1;
            }
            Some(kind @ ("class" | "struct")) if !is_template && !head.contains(&"(") => {
                let colon = head.iter().position(|token| *token == ":").unwrap_or(head.len());
                let mut names = head[1..colon].iter().copied();
                let name = names.rfind(|it| is_name(it) && *it != "final");
                if let Some(name) = name.filter(|_| is_public) {
                    let qualified = qualify_name(&scope.name, name);
                    let base = join_tokens(&head[(colon + 1).min(head.len())..]);
                    if !base.ends_with("google::protobuf::Service") {
                        self.declared.insert((qualified.clone(), "class".to_owned()));
                    }
                    if let Some(at) = base.find("google::protobuf::") {
                        let base = match &base[at..] {
                            "google::protobuf::internal::ZeroFieldsBase" => {
                                "google::protobuf::Message"
                            }
                            base => base,
                        };
                        let class = format!("class:{base}");
                        self.declared.insert((qualified.clone(), class));
                    }
                    let class = Some(name.to_owned());
                    let inner = CppScope { name: qualified, class, is_public: kind == "struct" };
                    self.block(open + 1..end, &inner);
                }
                return end + 1;
            }
            _ => {}
        }
        if is_public {
            self.statement(start..open, scope, aliases);
        }
        // A variable continues after its initialiser.
        match self.tokens.get(end + 1) {
            Some(&";") => end + 1,
            _ => end,
        }
    }

    fn enumeration(&mut self, name: Option<&str>, range: std::ops::Range<usize>, scope: &CppScope) {
        if let Some(name) = name {
            self.declared.insert((qualify_name(&scope.name, name), "enum".to_owned()));
        }
        let signature = match (name, &scope.class) {
            (Some(name), None) => name,
            (Some(_), Some(_)) => "case",
            (None, _) => "int",
        };
        let body = self.tokens[range].to_vec();
        for value in split_arguments(&body) {
            if let Some(value) = value.first() {
                self.declared.insert((qualify_name(&scope.name, value), signature.to_owned()));
            }
        }
    }

    fn statement(
        &mut self,
        range: std::ops::Range<usize>,
        scope: &CppScope,
        aliases: &mut BTreeMap<&'c str, String>,
    ) {
        let mut head: Vec<&'c str> = Vec::new();
        let mut at = range.start;
        while at < range.end {
            match self.tokens[at] {
                "[[" => at = find_closing_bracket(&self.tokens, at),
                // A specialisation adds nothing to its template.
                "template" if self.tokens[at + 2] == ">" => return,
                "template" => at = find_closing_bracket(&self.tokens, at + 1),
                // `final` can also be a name.
                "final" if matches!(self.tokens[at + 1], "(" | ")") => head.push("final"),
                token if NOISE.contains(&token) || token.starts_with("PROTOBUF_") => {}
                "::" if !head.last().is_some_and(|last| is_name(last)) => {}
                "::" if matches!(head.last(), Some(&("const" | "return"))) => {}
                token => head.push(token),
            }
            at += 1;
        }
        match head.first() {
            Some(&"using") => {
                if let [_, name, "=", target] = head[..] {
                    aliases.insert(name, target.to_owned());
                    let kind = self.alias_kind(scope, target);
                    self.declared.insert((qualify_name(&scope.name, name), kind));
                }
                return;
            }
            Some(&("friend" | "class" | "struct" | "enum" | "typedef" | "static_assert"))
            | None => {
                return;
            }
            _ => {}
        }
        if let Some((name, signature)) = parse_declaration(&head, aliases) {
            let is_constructor =
                scope.class.as_deref() == Some(&name) && signature.starts_with(['(', '~']);
            if !is_constructor && !name.contains("::") {
                let signature = strip_namespace(&signature, &self.namespace);
                self.declared.insert((qualify_name(&scope.name, &name), signature));
            }
        }
    }

    /// Whether an alias in a class stands for a class or an enum.
    fn alias_kind(&self, scope: &CppScope, target: &str) -> String {
        let namespace = scope.name.rsplit_once("::").map_or("", |(namespace, _)| namespace);
        let target = qualify_name(namespace, target);
        let is_enum = self.declared.contains(&(target, "enum".to_owned()));
        if is_enum { "enum" } else { "class" }.to_owned()
    }
}

fn qualify_name(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}::{name}") }
}

/// The name and the signature of a function or variable.
fn parse_declaration(head: &[&str], aliases: &BTreeMap<&str, String>) -> Option<(String, String)> {
    let is_extension = !head.contains(&"_proto_TypeTraits");
    let identifier = head.iter().position(|token| *token == "ExtensionIdentifier");
    if let Some(at) = identifier.filter(|_| is_extension) {
        let end = find_closing_bracket(head, at + 1);
        let parts = split_arguments(&head[at + 2..end]);
        let traits: Vec<&str> =
            parts.get(1)?.iter().copied().skip_while(|it| !it.ends_with("Traits")).collect();
        // The validity function of an enum adds nothing to its name.
        let (open, inner) = traits.split_first()?;
        let argument = inner.get(1..inner.len().saturating_sub(1)).unwrap_or_default();
        let argument =
            split_arguments(argument).first().map(|it| join_tokens(it)).unwrap_or_default();
        let argument = if argument.is_empty() { argument } else { format!("<{argument}>") };
        let name = head.get(end + 2)?;
        let extendee = join_tokens(parts.first()?);
        return Some((
            (*name).to_owned(),
            format!("ExtensionIdentifier<{extendee},{open}{argument}>"),
        ));
    }
    if !is_extension {
        // Access to any extension.
        return None;
    }
    // An alias of the class, unless it is a name in another scope.
    let resolve = |tokens: &[&str]| {
        let is_local = |at: usize| at == 0 || tokens[at - 1] != "::";
        let resolved = tokens.iter().enumerate().map(|(at, token)| {
            aliases.get(token).filter(|_| is_local(at)).map_or(*token, String::as_str)
        });
        join_tokens(&resolved.collect::<Vec<_>>())
    };
    let mut depth = 0;
    let value_at = head.iter().position(|token| *token == "=").unwrap_or(head.len());
    let open = head[..value_at].iter().position(|token| {
        match *token {
            "<" => depth += 1,
            ">" => depth -= 1,
            _ => {}
        }
        *token == "(" && depth == 0
    });
    let Some(open) = open.filter(|open| *open > 0) else {
        let (name, ty) = head[..value_at].split_last()?;
        return (is_name(name) && !ty.is_empty()).then(|| ((*name).to_owned(), resolve(ty)));
    };
    let end = find_closing_bracket(head, open);
    let mut name_at = open - 1;
    while name_at > 1 && head[name_at - 1] == "::" {
        name_at -= 2;
    }
    let mut name = join_tokens(&head[name_at..open]);
    let mut result = &head[..name_at];
    if let Some(at) = head[..open].iter().position(|token| *token == "operator") {
        name = "operator".to_owned();
        result = &head[..at];
    }
    let mut parameters = Vec::new();
    for parameter in split_arguments(&head[open + 1..end]) {
        if parameter.contains(&"Args_") {
            continue;
        }
        if parameter.first() == Some(&"Arg_") {
            parameters.push("string".to_owned());
            continue;
        }
        let mut parameter = parameter;
        if let Some(at) = parameter.iter().position(|token| *token == "=") {
            parameter = &parameter[..at];
        }
        if let [rest @ .., last] = parameter
            && rest.last().is_some_and(|before| *before != "const" && *before != "::")
            && is_name(last)
        {
            parameter = rest;
        }
        parameters.push(resolve(parameter));
    }
    let constant = if head[end..].contains(&"const") { "const" } else { "" };
    let result = resolve(result);
    Some((name, format!("{result}({}){constant}", parameters.join(","))))
}
