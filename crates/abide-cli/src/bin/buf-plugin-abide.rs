//! `buf-plugin-abide`: Abide as a check plugin of buf.

fn main() -> std::process::ExitCode {
    abide_cli::launch("buf")
}
