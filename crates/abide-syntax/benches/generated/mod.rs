//! A made-up tree of about a megabyte, the same in every run: packages in
//! versions, files that import each other, comments, options and services.

use std::fmt::Write;

/// About as many files as make a megabyte.
pub(crate) const FILES: usize = 200;

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

const WORDS: [&str; 12] = [
    "name", "cluster", "route", "filter", "timeout", "policy", "weight", "header", "address",
    "retry", "limit", "status",
];
const SCALARS: [&str; 8] =
    ["string", "int32", "uint64", "bool", "bytes", "double", "sint64", "fixed32"];

fn package(at: usize) -> String {
    format!("bench.area{}.part{}.v{}", at % 7, at / 8, 1 + at % 3)
}

fn path(at: usize) -> String {
    format!("{}/file{at}.proto", package(at).replace('.', "/"))
}

/// The files, by path.
pub(crate) fn tree() -> Vec<(String, String)> {
    let mut random = Random(0x00ab_1de5);
    (0..FILES).map(|at| (path(at), file(&mut random, at).expect("a string grows"))).collect()
}

fn file(random: &mut Random, at: usize) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let mut imports: Vec<usize> = (0..4.min(at)).map(|_| random.below(at)).collect();
    imports.sort_unstable();
    imports.dedup();
    writeln!(text, "// A file of the tree that the benchmarks read.\n\nsyntax = \"proto3\";\n")?;
    writeln!(text, "package {};\n", package(at))?;
    for &import in &imports {
        writeln!(text, "import \"{}\";", path(import))?;
    }
    writeln!(text, "\noption java_package = \"{}\";\n", package(at))?;
    for number in 0..6 {
        message(random, &mut text, at, number, &imports)?;
    }
    writeln!(text, "service Service{at} {{")?;
    for method in 0..3 {
        let (input, output) = (random.below(6), random.below(6));
        writeln!(text, "  // Call {method}, as clients know it.")?;
        writeln!(text, "  rpc Call{method}(M{at}x{input}) returns (M{at}x{output}) {{")?;
        writeln!(text, "    option idempotency_level = IDEMPOTENT;\n  }}")?;
    }
    writeln!(text, "}}")?;
    Ok(text)
}

fn message(
    random: &mut Random,
    text: &mut String,
    at: usize,
    number: usize,
    imports: &[usize],
) -> std::fmt::Result {
    writeln!(text, "// What belongs to a {}, and what does not.", random.pick(&WORDS))?;
    writeln!(text, "// [#next-free-field: 14]\nmessage M{at}x{number} {{")?;
    writeln!(text, "  enum Kind {{")?;
    for value in 0..4 {
        writeln!(text, "    KIND_{at}_{number}_{value} = {value};")?;
    }
    writeln!(text, "  }}\n\n  reserved 40 to 50;\n  reserved \"old_{number}\";\n")?;
    for field in 1..=10 {
        let word = random.pick(&WORDS);
        let ty = match random.below(6) {
            0 => "Kind".to_owned(),
            1 => format!("M{at}x{}", random.below(6)),
            2 if !imports.is_empty() => {
                let other = imports[random.below(imports.len())];
                format!("{}.M{other}x{}", package(other), random.below(6))
            }
            3 => format!("map<string, {}>", random.pick(&SCALARS)),
            _ => random.pick(&SCALARS).to_owned(),
        };
        writeln!(text, "  // The {word} of this, in the order of its {}.", random.pick(&WORDS))?;
        write!(text, "  {ty} {word}_{field} = {field}")?;
        if random.below(4) == 0 {
            write!(text, " [deprecated = true, json_name = \"{word}{field}x\"]")?;
        }
        writeln!(text, ";")?;
    }
    writeln!(
        text,
        "\n  oneof choice {{\n    string first = 11;\n    int64 second = 12;\n  }}\n}}\n"
    )
}
