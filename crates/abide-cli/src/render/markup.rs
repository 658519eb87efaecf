//! What HTML and XML need.

/// Colours, light and dark, and controls: the same on every page.
pub(super) const BASE: &str = include_str!("base.css");

/// A text as HTML and XML show it, also within a quoted attribute. XML 1.0 (section 2.2) has no
/// form at all for some characters: a mark stands for them.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            c => out.push(c),
        }
    }
    out
}

/// A template with a text for each `{{mark}}`. In one pass: what is put in may hold marks.
pub(super) fn fill(template: &str, text: impl Fn(&str) -> String) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((mark, behind)) = behind.split_once("}}") else { break };
        page.push_str(&text(mark));
        rest = behind;
    }
    page.push_str(rest);
    page
}
