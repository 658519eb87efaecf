//! Measures `abide lsp`: how long after an edit an editor shows what follows from it.

use std::fmt::Write;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use abide_harness::Result;
use abide_harness::corpora::Corpus;
use serde_json::{Value, json};

use super::timing::{Bench, median, name_verdict};

/// How many edits are made in each file.
const EDITS: usize = 60;

/// The most milliseconds that 95 of 100 edits may take.
const GOAL: f64 = 100.0;

/// The files that are edited: one that nobody imports, one that nearly all import.
const EDITED: [&str; 2] =
    ["google/cloud/vision/v1/product_search_service.proto", "google/api/annotations.proto"];

impl Bench {
    /// Edits files of a tree that is compared with itself, and waits for the findings each time.
    pub(super) fn editor(&self, report: &mut String, tree: &Corpus) -> Result<bool> {
        writeln!(
            report,
            "\n## abide lsp: one edit in {} files, compared with an old tree\n",
            tree.files.len()
        )?;
        writeln!(
            report,
            "| edited file | edits | median ms | p95 ms | slowest ms |\n|---|---|---|---|---|"
        )?;
        let mut met = true;
        for path in EDITED {
            let mut editor = Editor::start(&self.abide, &tree.root)?;
            let text = std::fs::read_to_string(tree.root.join(path))?;
            editor.open(path, &text)?;
            let mut times = Vec::new();
            for edit in 0..EDITS {
                times.push(editor.edit(path, edit, &edit_text(&text, edit))?);
            }
            times.sort_by(f64::total_cmp);
            let (Some(slowest), late) = (times.last(), times[times.len() * 95 / 100]) else {
                return Err("nothing was measured".into());
            };
            met &= late <= GOAL;
            let middle = median(times.clone());
            writeln!(report, "| `{path}` | {EDITS} | {middle:.1} | {late:.1} | {slowest:.1} |")?;
        }
        writeln!(report, "\nGoal: 95 of 100 edits in at most {GOAL} ms: {}.", name_verdict(met))?;
        Ok(met)
    }
}

/// The text after so many edits: a name, an error, a new type or a new import is typed.
fn edit_text(text: &str, edit: usize) -> String {
    match edit % 4 {
        0 => format!("{text}\n// {edit}\n"),
        1 => format!("{text}\nmessage Added{edit} {{ string name = 1; }}\n"),
        2 => format!("{text}\nmessage Added{edit} {{ string name = ; }}\n"),
        _ => text.replacen(
            "import \"",
            &format!("// {edit}\nimport \"google/type/date.proto\";\nimport \""),
            1,
        ),
    }
}

/// A server, and the pipes to it.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    folder: String,
}

impl Editor {
    fn start(abide: &Path, folder: &Path) -> Result<Editor> {
        let mut command = Command::new(abide);
        command.args(["lsp", "--preset", "google", "--against"]).arg(folder);
        let mut child =
            command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("it is piped")?;
        let output = BufReader::new(child.stdout.take().ok_or("it is piped")?);
        let folder = format!("file://{}", folder.display());
        let mut editor = Editor { child, input, output, folder };
        let params = json!({ "rootUri": editor.folder, "capabilities": {} });
        editor.send(&json!({ "id": 1, "method": "initialize", "params": params }))?;
        editor.wait(|message| message["id"] == 1)?;
        editor.send(&json!({ "method": "initialized", "params": {} }))?;
        Ok(editor)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut message = message.clone();
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        Ok(self.input.flush()?)
    }

    fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<()> {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                if self.output.read_line(&mut line)? == 0 {
                    return Err("the server ended".into());
                }
                match line.trim_end().strip_prefix("Content-Length: ") {
                    Some(value) => length = value.parse()?,
                    None => break,
                }
            }
            let mut text = vec![0; length];
            self.output.read_exact(&mut text)?;
            if is_it(&serde_json::from_slice(&text)?) {
                return Ok(());
            }
        }
    }

    /// Waits until the findings of a version are shown.
    fn shown(&mut self, version: usize) -> Result<()> {
        self.wait(|message| message["params"]["version"] == version)
    }

    fn open(&mut self, path: &str, text: &str) -> Result<()> {
        let uri = format!("{}/{path}", self.folder);
        let document = json!({ "uri": uri, "languageId": "proto", "version": 1, "text": text });
        let params = json!({ "textDocument": document });
        self.send(&json!({ "method": "textDocument/didOpen", "params": params }))?;
        self.shown(1)
    }

    /// Replaces the text; returns the milliseconds until its findings are shown.
    fn edit(&mut self, path: &str, edit: usize, text: &str) -> Result<f64> {
        let version = edit + 2;
        let document = json!({ "uri": format!("{}/{path}", self.folder), "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        let begin = Instant::now();
        self.send(&json!({ "method": "textDocument/didChange", "params": params }))?;
        self.shown(version)?;
        Ok(begin.elapsed().as_secs_f64() * 1e3)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It is ours, and its work is done.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
