//! Instances inside of other documents: below a path, or in a text that a document holds, as
//! ConfigMaps of Kubernetes hold configuration.

use abide_schema::value::{JsonKind, JsonNode};
use abide_syntax::Span;

/// The values at a path of keys, numbers of elements and `*` for all of them, with dots between
/// them. A key may itself have dots: the longest key that the path begins with counts.
pub(crate) fn find_values_at<'t>(node: JsonNode<'t>, path: &str) -> Vec<JsonNode<'t>> {
    let mut found = Vec::new();
    collect(node, path, &mut found);
    found
}

fn collect<'t>(node: JsonNode<'t>, path: &str, found: &mut Vec<JsonNode<'t>>) {
    if path.is_empty() {
        found.push(node);
        return;
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    match node.kind {
        JsonKind::Object(members) if step == "*" => {
            members.into_iter().for_each(|member| collect(member.value, rest, found));
        }
        JsonKind::Object(members) => {
            let fits = |key: &str| {
                let rest = path.strip_prefix(key)?;
                rest.strip_prefix('.').or(rest.is_empty().then_some(""))
            };
            let fitting = members.into_iter().filter_map(|it| Some((fits(&it.key)?, it)));
            if let Some((rest, member)) = fitting.max_by_key(|(_, member)| member.key.len()) {
                collect(member.value, rest, found);
            }
        }
        JsonKind::Array(elements) if step == "*" => {
            elements.into_iter().for_each(|element| collect(element, rest, found));
        }
        JsonKind::Array(elements) => {
            let element = step.parse().ok().and_then(|at: usize| elements.into_iter().nth(at));
            if let Some(element) = element {
                collect(element, rest, found);
            }
        }
        JsonKind::Null | JsonKind::Bool(_) | JsonKind::Number(_) | JsonKind::String(_) => {}
    }
}

/// Maps positions of a text to those of the text that holds it.
pub(crate) struct EmbeddedText {
    whole: Span,
    /// Of each line of the inner text, its start and where it stands in the outer one. Empty if
    /// the lines do not stand there as they are: then everything stands at the whole.
    lines: Vec<(u32, u32)>,
}

impl EmbeddedText {
    /// The places of the text that stands at `whole` in `outer`: as it is, in quotes, or as a
    /// literal block of YAML, whose lines are indented.
    pub(crate) fn new(outer: &str, whole: Span, inner: &str) -> EmbeddedText {
        let lines = map_lines(outer, whole, inner).unwrap_or_default();
        EmbeddedText { whole, lines }
    }

    pub(crate) fn to_outer(&self, span: Span) -> Span {
        let outer = |at: u32| {
            let line = self.lines.partition_point(|(inner, _)| *inner <= at).checked_sub(1)?;
            let (inner, outer) = self.lines[line];
            Some((outer + (at - inner)).min(self.whole.end.max(outer)))
        };
        match (outer(span.start), outer(span.end)) {
            (Some(start), Some(end)) => Span { start, end },
            _ => self.whole,
        }
    }
}

fn map_lines(outer: &str, whole: Span, inner: &str) -> Option<Vec<(u32, u32)>> {
    let written = outer.get(whole.range())?;
    let quote = u32::from(written.starts_with(['"', '\'']));
    if written[quote as usize..].starts_with(inner) && !inner.contains('\n') {
        return Some(vec![(0, whole.start + quote)]);
    }
    let mut found = Vec::new();
    let mut inner_start = 0;
    let mut outer_start = whole.start as usize;
    for line in inner.split_inclusive('\n') {
        let rest = outer.get(outer_start..)?;
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let indented = rest[..end].trim_end_matches('\r');
        let line_text = line.strip_suffix('\n').unwrap_or(line);
        let indent = indented.strip_suffix(line_text)?;
        if !indent.bytes().all(|it| it == b' ') {
            return None;
        }
        found.push((inner_start, (outer_start + indent.len()) as u32));
        inner_start += line.len() as u32;
        outer_start += end + 1;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::Dialect;
    use crate::readers::yaml;

    #[track_caller]
    fn check(text: &str, path: &str, expected: &[&str]) {
        let documents = yaml::parse(text, Dialect::Protobuf).documents;
        let found = documents.into_iter().flat_map(|node| find_values_at(node, path));
        let found: Vec<&str> = found.map(|node| &text[node.span.range()]).collect();
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn paths_lead_to_values() {
        let text = "{spec: {config: 1, a.b: 2, a: {b: 3, c: 4}, list: [5, {x: 6}]}}";
        for (path, expected) in [
            ("spec.config", &["1"][..]),
            ("spec.a.b", &["2"]),
            ("spec.a.c", &["4"]),
            ("spec.list.0", &["5"]),
            ("spec.list.1.x", &["6"]),
            ("spec.list.2", &[]),
            ("spec.list.*", &["5", "{x: 6}"]),
            ("spec.a.*", &["3", "4"]),
            ("spec.conf", &[]),
            ("", &[text]),
        ] {
            check(text, path, expected);
        }
        check("data: {envoy.yaml: 1, b.json: 2}\n---\nx: 1\n", "data.*", &["1", "2"]);
        check(
            "data: {envoy.yaml: 1}\n---\ndata: {envoy.yaml: 3}\n",
            "data.envoy.yaml",
            &["1", "3"],
        );
    }

    /// Where each word of the inner text stands in the outer one.
    #[track_caller]
    fn check_places(text: &str, words: &[&str], are_found: bool) {
        let mut documents = yaml::parse(text, Dialect::Protobuf).documents;
        let node = find_values_at(documents.remove(0), "a").remove(0);
        let JsonKind::String(inner) = &node.kind else { panic!("{text} holds a text") };
        let places = EmbeddedText::new(text, node.span, inner);
        for word in words {
            let at = inner.find(word).expect("the word is in the text") as u32;
            let span = places.to_outer(Span { start: at, end: at + word.len() as u32 });
            let expected = if are_found { word } else { &text[node.span.range()] };
            assert_eq!(&text[span.range()], expected);
        }
    }

    #[test]
    fn words_of_inner_texts_have_their_places() {
        let words = ["one", "two", "three"];
        check_places("a: |\n    one:\n      two\n\n    three\nb: 1\n", &words, true);
        check_places("x: 1\na: |-\r\n  one:\r\n    two\r\n  three\r\n", &words, true);
        check_places("a: '{one: two, three: 3}'\n", &words, true);
        check_places("{\"a\": \"one two three\"}", &words, true);
        check_places("a: one two three\n", &words, true);
        check_places("a: >\n  one\n  two\n  three\n", &words, false);
        check_places("a: \"one\\ttwo three\"\n", &words, false);
    }
}
