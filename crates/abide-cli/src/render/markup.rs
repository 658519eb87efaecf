//! Helpers for HTML and XML.

/// The style that all pages share: light and dark colours, and controls.
pub(super) const BASE: &str = include_str!("base.css");

/// Escapes a text for HTML and XML, also inside a quoted attribute. Characters that XML 1.0 cannot
/// represent (section 2.2) become replacement characters.
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

/// Fills in a template with a text for each `{{mark}}`. This is done in one pass, because the texts
/// may contain marks.
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
