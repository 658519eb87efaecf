//! Any text as the files of settings and records: reading them returns.
#![no_main]

use abide_lint::{Accepted, CodeOwners, Config, Lock};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = Config::parse(text, None);
    let _ = Accepted::parse(text);
    let _ = Lock::parse(text);
    let _ = CodeOwners::parse(text, None);
});
