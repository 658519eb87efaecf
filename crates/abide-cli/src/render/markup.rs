//! Texts for HTML and XML, and what all HTML pages have in common.

use abide_source::printable::is_unprintable;

const PAGE: &str = include_str!("markup/page.html");
const STYLE: &str = include_str!("markup/page.css");

/// A self-contained page: it loads nothing, and runs no script but its own.
pub(super) struct HtmlPage<'a> {
    /// The title, not yet escaped.
    pub(super) title: &'a str,
    /// The style of this page; light and dark colours, and controls, have theirs already.
    pub(super) style: &'a str,
    /// The script that follows the body.
    pub(super) script: Option<&'a str>,
    /// The body, as a template.
    pub(super) body: &'a str,
}

impl HtmlPage<'_> {
    /// The page, with a text for each mark of its body.
    pub(super) fn fill(&self, text: impl Fn(&str) -> String) -> Vec<u8> {
        let body = fill(self.body, |mark| match mark {
            "title" => escape(self.title),
            mark => text(mark),
        });
        let page = fill(PAGE, |mark| match (mark, self.script) {
            ("title", _) => escape(self.title),
            ("style", _) => [STYLE, self.style].concat(),
            ("body", _) => body.clone(),
            ("script-source", Some(_)) => "; script-src 'unsafe-inline'".to_owned(),
            ("script", Some(script)) => format!("<script>\n{script}\n</script>\n"),
            _ => String::new(),
        });
        page.into_bytes()
    }
}

/// Escapes a text for HTML and XML, also inside a quoted attribute. Characters that XML 1.0 cannot
/// represent (section 2.2) become replacement characters.
pub(super) fn escape(text: &str) -> String {
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
            // Marks of direction would order what stands around the text.
            c if is_unprintable(c) && !c.is_ascii_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Fills in a template with a text for each `{{mark}}`. This is done in one pass, because the texts
/// may contain marks.
fn fill(template: &str, text: impl Fn(&str) -> String) -> String {
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
