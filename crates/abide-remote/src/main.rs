//! The binary `abide-remote`.

fn main() -> std::process::ExitCode {
    abide_remote::main()
}
