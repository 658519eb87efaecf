//! The binary `abide`.

fn main() -> std::process::ExitCode {
    abide_cli::main()
}
