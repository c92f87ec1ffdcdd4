//! Questions on the terminal; No is the answer of whoever only presses Enter.

use std::io::{IsTerminal as _, Write as _};

use super::output::Failure;
use super::session::Session;

/// Whether there is somebody who can be asked.
pub(super) fn can_be_asked(session: &Session) -> bool {
    !session.globals.json && std::io::stdin().is_terminal()
}

/// Ask a question that has Yes and No.
pub(super) fn ask(text: &str) -> Result<bool, Failure> {
    eprint!("{text} [y/N] ");
    // A closed stderr is no reason to stop.
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .map_err(|error| Failure::Io("no answer can be read".into(), error))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
