//! A model of protoc's generators: the symbols that users of generated code can
//! write.
//!
//! For each element of a tree, [`list_symbols`] lists the symbols that the generators
//! for C++, Go, Java and Python emit for it. Each has a signature: what matters to
//! the compilers of its callers, in our own normal form. A removed symbol, or one
//! with another signature, breaks source code. [`find_loss`] finds the first of them,
//! which most callers use.
//!
//! # How the model is verified
//!
//! `cargo xtask oracle --only symbols` compares the model with the output of
//! the real generators, in both directions: C++, Java and Python of protoc
//! 36.2; Go of `protoc-gen-go` 1.28; the stubs of gRPC for C++ 1.51, Go 1.0,
//! Java 1.41 and Python 1.85. Features that are newer than these versions are
//! modelled from the documentation alone: Go in editions (the API levels hybrid
//! and opaque, and `strip_enum_prefix`), and gRPC for C++ and Java in editions.
//! Generic services of Java are not modelled: protoc no longer emits them.
//!
//! The model leaves out symbols that every message, enum or service has, which are
//! lost exactly when the element is (`New`, `Swap`, `parseFrom`, `Reset`,
//! `SerializeToString`); mirrors of modelled symbols (the getters of a Java builder
//! and of an `OrBuilder` interface, asynchronous stubs of C++); what `import
//! public` passes on below the top level; and everything with an internal name.
//! The oracle has the full list.

mod cpp;
mod elements;
mod emitted;
mod emitter;
mod generator;
mod go;
mod java;
mod language;
mod loss;
mod names;
mod python;
#[cfg(test)]
mod tests;

pub(crate) use self::emitted::list_symbols_with;
pub use self::emitted::{list_symbols, list_symbols_of_file};
pub use self::emitter::GeneratedSymbol;
pub use self::language::Language;
pub use self::loss::LostSymbol;
pub(crate) use self::loss::{
    Correspondence, Loss, find_loss, find_loss_by_use, find_loss_of_file, stays_imported,
};
pub(crate) use self::names::GeneratedNames;
