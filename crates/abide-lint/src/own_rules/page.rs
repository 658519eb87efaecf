//! The page of a rule, which `abide explain` prints.

use std::fmt::Write;

use super::definition::OwnRule;

impl OwnRule {
    /// Its page in Markdown.
    pub(crate) fn render_page(&self) -> String {
        let mut out = format!("# {}\n\n## What it checks\n\n", self.id);
        let what = match self.on.is_change {
            true => format!("Every change of a {}", self.on.kind.word()),
            false => format!("Every {}", self.on.kind.word()),
        };
        let severity = self.severity.map_or("off", |it| it.word());
        // Writing to a text cannot fail.
        let _ = write!(
            out,
            "{what}: the rule is declared by `[[rule]]` in `abide.toml`, with the severity \
             `{severity}`. It reports where this condition holds:\n\n```cel\n{}\n```\n\n\
             The message:\n\n```text\n{}\n```\n",
            self.when.trim(),
            self.message.trim()
        );
        if let Some(help) = &self.help {
            let _ = write!(out, "\n## How to fix\n\n```text\n{}\n```\n", help.trim());
        }
        for example in &self.examples {
            let heading = if example.reports.is_empty() { "Good" } else { "Bad" };
            let _ = write!(out, "\n## {heading}\n");
            if let Some(old) = &example.old {
                let _ = write!(out, "\nBefore:\n\n```proto\n{}\n```\n\nAfter:\n", old.trim());
            }
            let _ = write!(out, "\n```proto\n{}\n```\n", example.proto.trim());
        }
        out
    }
}
