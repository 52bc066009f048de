//! The `rulebook` command.

fn main() -> std::process::ExitCode {
    rulebook_cli::main()
}
