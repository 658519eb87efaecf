//! Any bytes: the parser returns, and what it returns describes the text. What has no errors has a
//! layout, which is its own.
#![no_main]

#[path = "../../tests/sound/mod.rs"]
mod sound;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    sound::check(text);
    if let Ok(formatted) = abide_format::format(text) {
        assert_eq!(abide_format::format(&formatted).as_ref(), Ok(&formatted));
    }
});
