//! Any bytes as YAML: reading them returns, with every place inside of them.
#![no_main]

mod reading;

use abide_instance::Notation;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::everything(Notation::Yaml, bytes));
