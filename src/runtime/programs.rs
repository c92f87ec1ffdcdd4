//! Programs of the user that take over the terminal: shell, pager, editor.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::msg::{Msg, Program, Tone};

/// Run it to its end; gives what to tell the user.
pub(super) fn run(program: &Program, directory: &Path) -> Msg {
    let (variables, default): (&[&str], &str) = match program {
        Program::Shell => (&["SHELL"], "/bin/sh"),
        Program::Pager(_) => (&["PAGER"], "less"),
        Program::Editor(_) => (&["VISUAL", "EDITOR"], "vi"),
    };
    let set = variables
        .iter()
        .filter_map(env::var_os)
        .find(|value| !value.is_empty());
    let name = set.unwrap_or_else(|| OsString::from(default));
    let mut command = match program {
        Program::Shell => {
            println!(
                "shell in {}; exit goes back to CrystalMath",
                directory.display()
            );
            Command::new(&name)
        }
        Program::Pager(file) | Program::Editor(file) => {
            // These variables may hold options; the shell parts them, the file stays one word.
            let mut shell = Command::new("/bin/sh");
            shell
                .arg("-c")
                .arg(format!("{} \"$1\"", name.to_string_lossy()))
                .arg("sh")
                .arg(file);
            shell
        }
    };
    match command.current_dir(directory).status() {
        Ok(status) if status.success() => Msg::Note(Tone::Info, "back".into()),
        Ok(status) => Msg::Note(
            Tone::Info,
            format!("{} ended with {status}", name.display()),
        ),
        Err(error) => Msg::Note(
            Tone::Bad,
            format!("{} in {}: {error}", name.display(), directory.display()),
        ),
    }
}
