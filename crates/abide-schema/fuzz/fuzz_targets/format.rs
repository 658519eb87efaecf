//! Any bytes: a text without errors has a layout, which is its own.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    if let Ok(formatted) = abide_format::format(text) {
        assert_eq!(abide_format::format(&formatted).as_ref(), Ok(&formatted));
    }
});
