//! The binary `abide`.

/// Parsing allocates from several threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    abide_cli::main()
}
