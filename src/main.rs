//! The `rulebook` command.

fn main() -> std::process::ExitCode {
    rulebook::cli::main()
}
