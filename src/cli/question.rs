//! Questions on the terminal; No is the answer of whoever only presses Enter.

use std::io::{IsTerminal as _, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

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

/// What was typed at a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line, perhaps an empty one.
    Line(String),
    /// The user wants no more of it: Ctrl-C, or the end of the input.
    Nothing,
}

/// Ask for a line; with `echo` off nothing of it is seen while it is typed.
pub(super) fn typed(text: &str, echo: bool) -> Result<Typed, Failure> {
    eprint!("{text}");
    let _ = std::io::stderr().flush();
    let failed = |error| Failure::Io("no answer can be read".into(), error);
    let stdin = std::io::stdin();
    let quiet = Quiet::begin().map_err(failed)?;
    let line = line_of(&mut stdin.lock().bytes(), |bytes| {
        if echo {
            let _ = std::io::stderr().write_all(bytes);
        }
    });
    drop(quiet);
    eprintln!();
    line.map_err(failed)
}

/// The terminal gives each byte as it comes, and shows none; as it was when this goes.
struct Quiet(Termios);

impl Quiet {
    fn begin() -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut quiet = before.clone();
        let off = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        quiet.local_modes.remove(off);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &quiet)?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // Nothing can be done about it here, and the shell sets its own modes.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}

/// The line that these bytes make, with what Backspace and Ctrl-U take out of it; `show` gets what
/// is to be seen.
fn line_of(
    bytes: &mut impl Iterator<Item = std::io::Result<u8>>,
    mut show: impl FnMut(&[u8]),
) -> std::io::Result<Typed> {
    let mut line: Vec<u8> = Vec::new();
    for byte in bytes {
        match byte? {
            b'\r' | b'\n' => {
                let line = String::from_utf8(line);
                return line.map(Typed::Line).map_err(std::io::Error::other);
            }
            0x03 => return Ok(Typed::Nothing),
            0x04 if line.is_empty() => return Ok(Typed::Nothing),
            0x7f | 0x08 => {
                while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
                show(b"\x08 \x08");
            }
            0x15 => {
                while line.pop().is_some() {
                    show(b"\x08 \x08");
                }
            }
            byte if byte < 0x20 => {}
            byte => {
                line.push(byte);
                show(&[byte]);
            }
        }
    }
    Ok(Typed::Nothing)
}

#[cfg(test)]
mod tests {
    use super::{Typed, line_of};

    fn typed(text: &str) -> (Typed, usize) {
        let mut shown = 0;
        let mut bytes = text.bytes().map(Ok);
        let line = line_of(&mut bytes, |seen| shown += seen.len());
        (line.unwrap_or(Typed::Nothing), shown)
    }

    #[test]
    fn a_line_is_what_is_left_of_what_was_typed() {
        for (text, expected) in [
            ("secret\r", "secret"),
            ("sx\x7fecret\n", "secret"),
            ("é\x7fe\n", "e"),
            ("\x7f\n", ""),
            ("wrong\x15right\n", "right"),
            ("a\x1bb\n", "ab"),
            (" a b \n", " a b "),
        ] {
            assert_eq!(typed(text).0, Typed::Line(expected.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn nothing_was_typed_where_it_is_given_up() {
        for text in ["ab\x03", "\x04", "", "cut off"] {
            assert_eq!(typed(text).0, Typed::Nothing, "{text:?}");
        }
        assert_eq!(typed("a\x04b\n").0, Typed::Line("ab".into()));
    }
}
