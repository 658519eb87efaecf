//! The expressions of protovalidate, evaluated on values.

use abide_schema::value::{self, Value};
use abide_schema::{Cardinality, Element, Field, Message, Tree};

use crate::cel::{CelType, CelValue, Library, Outcome, PatternCache, Program};
use crate::limits::{DialectLimits, FieldLimits};
use crate::sets::{Acceptance, Dialect, Pattern, StringFormat, find_regular_format};

/// The values of a field that an expression is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The value, the list or the map.
    Whole,
    Items,
    Keys,
    Values,
}

/// An expression of an annotation, compiled.
#[derive(Debug)]
struct Expression<'t> {
    part: Part,
    text: String,
    /// The message where it is false.
    message: Option<String>,
    /// The compiled expression, or the reason that there is none.
    program: Result<Program, String>,
    /// Of a rule that the tree declares: its value, and the rules that it is among.
    rule: Option<(Field<'t>, &'t Value, &'t value::Message)>,
}

/// The expressions of an element.
#[derive(Debug, Default)]
pub(crate) struct Expressions<'t>(Vec<Expression<'t>>);

/// Reads the expressions of one place.
struct Reader<'t> {
    tree: &'t Tree,
    found: Vec<Expression<'t>>,
}

impl<'t> Reader<'t> {
    /// Those of an annotation itself.
    fn collect_own(&mut self, part: Part, this: &CelType, rules: &'t value::Message) {
        self.collect_listed(part, rules, &[("this", this.clone())], None);
    }

    fn collect_listed(
        &mut self,
        part: Part,
        rules: &'t value::Message,
        variables: &[(&str, CelType)],
        rule: Option<(Field<'t>, &'t Value, &'t value::Message)>,
    ) {
        let tree = self.tree;
        for entry in &rules.entries {
            let (text, message) = match (tree.field(entry.field).name(), &entry.value) {
                ("cel", Value::Message(cel)) => {
                    let message = cel.get_str(tree, "message").filter(|it| !it.is_empty());
                    (cel.get_str(tree, "expression").unwrap_or_default(), message)
                }
                ("cel_expression", Value::String(text)) => (&**text, None),
                _ => continue,
            };
            let program = Program::compile(tree, text, variables);
            self.found.push(Expression {
                part,
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                message: message.map(str::to_owned),
                program: program.map_err(|error| format!("it does not compile: {}", error.message)),
                rule,
            });
        }
    }

    /// The rules of a field, an item, a key or a value.
    fn collect_of_field(
        &mut self,
        part: Part,
        field: Field<'t>,
        this: &CelType,
        rules: &'t value::Message,
    ) {
        let tree = self.tree;
        self.collect_own(part, this, rules);
        for entry in &rules.entries {
            let Value::Message(inner) = &entry.value else { continue };
            let name = tree.field(entry.field).name();
            if !tree.message(inner.ty).name().ends_with("Rules") {
                continue;
            }
            for set in &inner.entries {
                let declared = tree.field(set.field);
                match (&set.value, declared.name()) {
                    (Value::Message(nested), "items") if name == "repeated" => {
                        self.collect_of_field(
                            Part::Items,
                            field,
                            &CelType::of_value(field),
                            nested,
                        );
                    }
                    (Value::Message(nested), "keys" | "values") if name == "map" => {
                        let (part, number) = match declared.name() {
                            "keys" => (Part::Keys, 1),
                            _ => (Part::Values, 2),
                        };
                        let held = field.message_type().and_then(|it| it.field_numbered(number));
                        if let Some(held) = held {
                            self.collect_of_field(part, held, &CelType::of_value(held), nested);
                        }
                    }
                    _ if declared.is_extension() => {
                        self.collect_predefined(part, declared, set, this, inner)
                    }
                    _ => {}
                }
            }
        }
    }

    /// A rule that the tree adds to those of protovalidate.
    fn collect_predefined(
        &mut self,
        part: Part,
        declared: Field<'t>,
        set: &'t value::Entry,
        this: &CelType,
        rules: &'t value::Message,
    ) {
        let tree = self.tree;
        let options = declared.options();
        let entry = options.and_then(|it| it.find_extension(tree, "buf.validate.predefined"));
        let Some(annotation) = entry.and_then(|it| it.value.as_message()) else { return };
        let variables = [
            ("this", this.clone()),
            ("rule", CelType::of_field(declared)),
            ("rules", CelType::of_message(tree.message(rules.ty))),
        ];
        self.collect_listed(part, annotation, &variables, Some((declared, &set.value, rules)));
    }
}

impl<'t> Expressions<'t> {
    /// Those of a field.
    pub(crate) fn of_field(field: Field<'t>) -> Expressions<'t> {
        let mut reader = Reader { tree: field.tree, found: Vec::new() };
        if let Some(rules) = find_annotation(Element::Field(field), "buf.validate.field") {
            reader.collect_of_field(Part::Whole, field, &CelType::of_field(field), rules);
        }
        Expressions(reader.found)
    }

    /// Those of a message.
    pub(crate) fn of_message(message: Message<'t>) -> Expressions<'t> {
        let mut reader = Reader { tree: message.tree, found: Vec::new() };
        if let Some(rules) = find_annotation(Element::Message(message), "buf.validate.message") {
            reader.collect_own(Part::Whole, &CelType::of_message(message), rules);
        }
        Expressions(reader.found)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The verdicts on a message.
    pub(crate) fn on_message(&self, tree: &Tree, message: &value::Message) -> Vec<Acceptance> {
        self.0.iter().map(|it| it.on(tree, CelValue::of_message(tree, message))).collect()
    }

    /// The verdicts on the values of a field. They are on whatever `part`, the other rules of the
    /// field, does not spare.
    pub(crate) fn on_field(
        &self,
        tree: &Tree,
        limits: &FieldLimits<'t>,
        part: &DialectLimits,
        values: &[&Value],
    ) -> Vec<Acceptance> {
        if self.0.is_empty() || part.skip {
            return Vec::new();
        }
        let field = limits.field;
        let is_singular = field.cardinality() == Cardinality::Singular;
        let single = limits.single();
        let is_spared = |value: Option<&Value>| {
            let is_zero = || match value {
                Some(value) => single.datum(tree, value) == single.zero(),
                None => true,
            };
            part.values.skip || part.values.zero_passes && is_zero()
        };
        let spares_whole = match is_singular {
            true => values.is_empty() && limits.is_explicit() || is_spared(values.last().copied()),
            false => values.is_empty() && part.empty_passes,
        };
        let mut verdicts = Vec::new();
        for expression in &self.0 {
            match expression.part {
                Part::Whole if spares_whole => {}
                Part::Whole => {
                    let this = CelValue::of_field(tree, field, &mut values.iter().copied());
                    verdicts.push(expression.on(tree, this));
                }
                Part::Items => {
                    for value in values.iter().filter(|it| !is_spared(Some(it))) {
                        verdicts.push(expression.on(tree, CelValue::of_value(tree, field, value)));
                    }
                }
                Part::Keys | Part::Values => {
                    let CelValue::Map(pairs) =
                        CelValue::of_field(tree, field, &mut values.iter().copied())
                    else {
                        continue;
                    };
                    let is_key = expression.part == Part::Keys;
                    let skips = match is_key {
                        true => part.keys.as_ref().is_some_and(|it| it.skip),
                        false => part.values.skip,
                    };
                    for (key, value) in pairs.iter().filter(|_| !skips) {
                        let this = if is_key { key } else { value };
                        verdicts.push(expression.on(tree, this.clone()));
                    }
                }
            }
        }
        verdicts
    }
}

impl Expression<'_> {
    fn on<'v>(&'v self, tree: &'v Tree, this: CelValue<'v>) -> Acceptance {
        let program = match &self.program {
            Ok(program) => program,
            Err(why) => return Acceptance::Unknown(format!("`{}`: {why}", self.text)),
        };
        let mut variables = vec![("this", this)];
        if let Some((field, value, rules)) = self.rule {
            variables.push(("rule", CelValue::of_value(tree, field, value)));
            variables.push(("rules", CelValue::of_message(tree, rules)));
        }
        let refused = |said: Option<&str>| {
            let said = self.message.as_deref().or(said);
            Acceptance::Rejected(
                said.map_or_else(|| format!("`{}` is false", self.text), str::to_owned),
            )
        };
        match program.run(tree, &PatternCache::default(), &variables) {
            Ok(CelValue::Bool(true)) => Acceptance::Accepted,
            Ok(CelValue::Bool(false)) => refused(None),
            Ok(CelValue::String(text)) if text.is_empty() => Acceptance::Accepted,
            Ok(CelValue::String(text)) => refused(Some(&text)),
            Ok(_) => Acceptance::Unknown(format!("`{}` gives no bool", self.text)),
            Err(why) => Acceptance::Unknown(format!("`{}`: {why}", self.text)),
        }
    }
}

fn find_annotation<'t>(element: Element<'t>, name: &str) -> Option<&'t value::Message> {
    element.options()?.find_extension(element.file().tree, name)?.value.as_message()
}

/// The functions that protovalidate adds to the language, and patterns.
impl Library for PatternCache {
    fn call<'v>(
        &self,
        tree: &Tree,
        function: &str,
        arguments: &[CelValue<'v>],
    ) -> Option<Outcome<'v>> {
        match (function, arguments) {
            ("matches", [CelValue::String(text), CelValue::String(pattern)]) => {
                Some(self.matches(text, pattern))
            }
            _ => call_validation_function(tree, function, arguments),
        }
    }
}

/// The result of a function that protovalidate adds; `None` if it has none with this name.
fn call_validation_function<'v>(
    tree: &Tree,
    function: &str,
    arguments: &[CelValue<'v>],
) -> Option<Outcome<'v>> {
    use CelValue::{Bool, Double, Int, List, String};
    let has = |format: StringFormat, text: &str| {
        matches!(format.evaluate(Dialect::Buf, text), Acceptance::Accepted)
    };
    let prefix = |text: &str, version: Option<i64>, network: bool| match version.unwrap_or(0) {
        0 => has(StringFormat::Prefix { version: None, network }, text),
        it @ (4 | 6) => has(StringFormat::Prefix { version: Some(it as u8), network }, text),
        _ => false,
    };
    let is_ip = |text: &str, version: i64| match version {
        0 => has(StringFormat::Ip, text),
        4 => has(StringFormat::Ip, text) && !text.contains(':'),
        6 => has(StringFormat::Ipv6, text),
        _ => false,
    };
    let found = match (function, arguments) {
        ("getField", [held, String(name)]) => {
            let unknown = || format!("nothing has the name `{name}`");
            return Some(held.find_member(tree, name).ok_or_else(unknown));
        }
        ("isNan", [Double(value)]) => value.is_nan(),
        ("isInf", [Double(value)]) => value.is_infinite(),
        ("isInf", [Double(value), Int(sign)]) => {
            value.is_infinite() && (*sign == 0 || (*sign > 0) == (*value > 0.0))
        }
        ("isEmail", [String(text)]) => {
            let pattern = find_regular_format(Dialect::Buf, "email").and_then(Pattern::new);
            pattern?.is_match(text.as_bytes())
        }
        ("isHostname", [String(text)]) => has(StringFormat::Hostname, text),
        ("isHostAndPort", [String(text), Bool(needs_port)]) => {
            let bracketed = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            let is_host = || match bracketed {
                Some(inner) => has(StringFormat::Ipv6, inner),
                None => has(StringFormat::Hostname, text) || is_ip(text, 4),
            };
            has(StringFormat::HostAndPort, text) || !needs_port && is_host()
        }
        ("isIp", [String(text)]) => is_ip(text, 0),
        ("isIp", [String(text), Int(version)]) => is_ip(text, *version),
        ("isIpPrefix", [String(text)]) => prefix(text, None, false),
        ("isIpPrefix", [String(text), Bool(network)]) => prefix(text, None, *network),
        ("isIpPrefix", [String(text), Int(version)]) => prefix(text, Some(*version), false),
        ("isIpPrefix", [String(text), Int(version), Bool(network)]) => {
            prefix(text, Some(*version), *network)
        }
        ("isUri", [String(text)]) => has(StringFormat::Uri, text),
        ("isUriRef", [String(text)]) => has(StringFormat::UriRef, text),
        ("unique", [List(items)]) => {
            // Longer lists would take the time of the square of their length.
            if items.len() > 2_000 {
                return Some(Err("a list is too long to compare all of its items".to_owned()));
            }
            let is_new = |(at, item): (usize, &CelValue<'_>)| {
                !items[..at].iter().any(|other| other.equals(item, tree))
            };
            items.iter().enumerate().all(is_new)
        }
        _ => return None,
    };
    Some(Ok(Bool(found)))
}
