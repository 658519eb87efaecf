//! Any bytes: the parser returns, and what it returns describes the text.
#![no_main]

#[path = "../../tests/sound/mod.rs"]
mod sound;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    sound::check(text);
});
