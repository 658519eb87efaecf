//! Any bytes as a FileDescriptorSet: reading, linking and writing it return.
#![no_main]

mod ask;

use std::sync::Arc;

use abide_schema::{FileDecl, Tree};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(files) = FileDecl::from_descriptor_set(&Arc::from(bytes)) {
        ask::everything(&Tree::link(files.into_iter().map(Arc::new).collect()));
    }
});
