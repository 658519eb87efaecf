//! Measures the hook: `abide check --changed` on a large repository in which one file was edited.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use abide_harness::Result;
use abide_harness::corpora::Corpus;
use abide_harness::repository::{Commit, build_repository, check_out};

use super::timing::{Bench, Tool, name_verdict};

/// The file that is edited: one that others of its package import.
const EDITED: &str = "google/cloud/vision/v1/image_annotator.proto";

/// The most seconds that the hook may take.
const GOAL: f64 = 0.050;

impl Bench {
    /// Commits a tree, edits a file, and looks at that as a hook does, and as git does.
    pub(super) fn hook(&self, report: &mut String, tree: &Corpus) -> Result<bool> {
        let text = |path: &String| Ok((path.clone(), Some(std::fs::read(tree.root.join(path))?)));
        let files: Result<Vec<_>> = tree.files.iter().map(text).collect();
        let begin = Commit { subject: "begin".to_owned(), files: files?, ..Commit::default() };
        let folder = build_repository("bench-hook", &[begin], 1)?;
        check_out(&folder)?;
        let edited = folder.join(EDITED);
        let text = std::fs::read_to_string(&edited)?;
        std::fs::write(&edited, text + "\nmessage Added {\n  string name = 1;\n}\n")?;
        let tool = |name, program: &Path, arguments: &[&str], checks: &str| {
            let mut command: Vec<OsString> = vec![program.into()];
            command.extend(arguments.iter().map(OsString::from));
            Tool { name, command, folder: folder.clone(), done: &[0, 1], checks: checks.to_owned() }
        };
        let check = ["check", "--changed", "--against", "git:HEAD", "--format", "json"];
        // The warm-up keeps the report.
        let again = ["check", "--format", "json"];
        let anew = ["check", "--format", "json", "--no-cache"];
        let mut tools = [
            tool("abide check --changed", &self.abide, &check, "what the edit reaches"),
            tool(
                "abide check, kept report",
                &self.abide,
                &again,
                "found the report of the last run",
            ),
            tool("abide check --no-cache", &self.abide, &anew, "judged everything"),
            tool(
                "git status",
                Path::new("git"),
                &["status", "--short"],
                "looked for changed files",
            ),
        ];
        let medians = self.medians(&mut tools)?;
        writeln!(report, "\n## The hook: one edit in {} files\n", tree.files.len())?;
        writeln!(report, "| run | seconds | peak MiB | what it did |\n|---|---|---|---|")?;
        for (tool, sample) in tools.iter().zip(&medians) {
            let (name, checks) = (tool.name, &tool.checks);
            writeln!(
                report,
                "| {name} | {:.3} | {:.0} | {checks} |",
                sample.seconds, sample.mebibytes
            )?;
        }
        let met = medians[0].seconds <= GOAL;
        writeln!(report, "\nGoal: at most {GOAL:.3} s: {}.", name_verdict(met))?;
        Ok(met)
    }
}
