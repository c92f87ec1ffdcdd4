//! The `crystalmath` program: its arguments, and nothing else.

use std::process::ExitCode;

#[cfg(feature = "ipc")]
fn main() -> ExitCode {
    crystalmath::cli::main()
}

#[cfg(not(feature = "ipc"))]
fn main() -> ExitCode {
    eprintln!("crystalmath was built without the feature `ipc`, so it cannot reach a daemon");
    ExitCode::FAILURE
}
