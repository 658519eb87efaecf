//! The law of fixes: each stands or falls by itself.
//!
//! The soundness program runs the same on many more of them.

mod trees;

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_lint::{Applied, Config, Finding, FixRequest, FixResult, Options, Policy, check, fix};
use abide_schema::{FileDecl, SourceFile, Tree};
use fastrand::Rng;
use jiff::civil::date;
use trees::{Files, POLICY, part};

/// What fixes of a tree did.
#[derive(Default)]
pub(crate) struct Tried {
    /// How many findings they fixed.
    pub(crate) fixed: usize,
    /// How many were refused.
    pub(crate) refused: usize,
}

fn link(files: &Files) -> Tree {
    let parse = |(path, text): (&String, &String)| {
        let path: Arc<str> = path.as_str().into();
        let display = Arc::clone(&path);
        let text = text.clone().into_bytes().into();
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    Tree::link(files.iter().map(parse).collect())
}

fn options() -> Options<'static> {
    Options::on(date(2026, 1, 15))
}

fn fixed(files: &Files, policy: &Policy) -> FixResult {
    let request = FixRequest { wants: &|_| true, may_edit: &|_| true };
    fix(&link(files), policy, options(), request)
}

/// The files with the texts that fixes gave them.
fn after(files: &Files, fixed: &FixResult) -> Files {
    let new = fixed
        .texts
        .iter()
        .map(|(path, text)| (path.to_string(), String::from_utf8_lossy(text).into_owned()));
    files.clone().into_iter().chain(new).collect()
}

/// What was refused, with the reasons.
fn refused(fixed: &FixResult) -> BTreeSet<[String; 4]> {
    let each = fixed.refused.iter();
    each.map(|it| [it.path.to_string(), it.element.clone(), it.title.clone(), it.why.clone()])
        .collect()
}

/// Fixes a tree of several parts, and each part alone. The error says which law does not hold.
pub(crate) fn try_fixes(rng: &mut Rng) -> Result<Tried, String> {
    let policy = Config::parse(POLICY, None).map_err(|_| "the policy is not valid")?.policy;
    let parts: Vec<Files> = (0..rng.u32(1..4)).map(|n| part(rng, n)).collect();
    let whole: Files = parts.iter().flatten().map(|(a, b)| (a.clone(), b.clone())).collect();
    let made = fixed(&whole, &policy);
    let result = after(&whole, &made);
    let fail = |what: String| {
        let texts = |files: &Files| {
            files.iter().map(|(path, text)| format!("// {path}\n{text}")).collect::<String>()
        };
        Err(format!("{what}\nof\n{}\nfixes made\n{}", texts(&whole), texts(&result)))
    };
    let (mut alone, mut refused_alone) = (Files::new(), BTreeSet::new());
    for part in &parts {
        let made = fixed(part, &policy);
        alone.extend(after(part, &made));
        refused_alone.extend(refused(&made));
    }
    if alone != result || refused_alone != refused(&made) {
        let both = format!("{:#?} and together {:#?}", refused_alone, refused(&made));
        return fail(format!("the parts alone are fixed otherwise: alone refused {both}"));
    }
    let before = check(&link(&whole), &policy, options()).findings;
    let now = check(&link(&result), &policy, options()).findings;
    let count =
        |findings: &[Finding], rule: &str| findings.iter().filter(|it| it.rule == rule).count();
    for it in &now {
        if count(&now, it.rule) > count(&before, it.rule) {
            return fail(format!("`{}` came: {}", it.rule, it.message));
        }
    }
    for it in &before {
        let mut fixes = it.fixes.iter().filter(|fix| fix.applied != Applied::Never);
        let is_refused = |title: &str| {
            made.refused
                .iter()
                .any(|refused| refused.element == it.element && refused.title == title)
        };
        let fixable = fixes.next().is_some_and(|fix| !is_refused(&fix.title));
        if fixable && now.iter().any(|left| left.fingerprint() == it.fingerprint()) {
            return fail(format!("`{}` is still there: {}", it.rule, it.message));
        }
    }
    let again = fixed(&result, &policy);
    if !again.texts.is_empty() {
        return fail("a second run fixes more".to_owned());
    }
    Ok(Tried { fixed: made.findings, refused: made.refused.len() })
}
