//! What users of generated code can write: a model of protoc's generators.
//!
//! For each element of a tree, [`symbols`] gives the symbols that the
//! generators for C++, Go, Java and Python emit for it, each with a signature:
//! what the compilers of its callers care about, in a normal form of our own.
//! A symbol that is lost or has another signature breaks source code, and
//! [`loss`] finds the first one, the one that most callers use.
//!
//! # What the model stands on
//!
//! `cargo xtask oracle --only symbols` compares the model with the output of
//! the real generators, in both directions: C++, Java and Python of protoc
//! 36.2; Go of `protoc-gen-go` 1.28; the stubs of gRPC for C++ 1.51, Go 1.0,
//! Java 1.41 and Python 1.85. What those predate is modelled from the
//! documentation alone: Go in editions, so the API levels hybrid and opaque and
//! `strip_enum_prefix`, and gRPC for C++ and Java in editions. Generic services
//! of Java are not modelled: protoc does not emit them any more.
//!
//! Left out are families that are the same for every message, enum or service,
//! and so are lost exactly when that is (`New`, `Swap`, `parseFrom`, `Reset`,
//! `SerializeToString`); mirrors of what is modelled (the getters of a Java
//! builder and of an `OrBuilder` interface, asynchronous stubs of C++); what
//! `import public` passes on below the top level; and everything that is
//! internal by name. The oracle holds the list.

mod cpp;
mod emitted;
mod emitter;
mod generator;
mod go;
mod java;
mod language;
mod loss;
mod python;
#[cfg(test)]
mod tests;

pub use self::emitted::{symbols, symbols_of_file};
pub use self::emitter::GeneratedSymbol;
pub use self::language::Language;
pub(crate) use self::loss::{Correspondence, Loss, loss, loss_file, stays_imported};
