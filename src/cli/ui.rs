//! `crystalmath` on a terminal: the full-screen UI.

use std::io::{self, IsTerminal as _};
use std::{env, fs};

use super::output::{Failure, Outcome};
use super::session::Session;
use super::{overview, plain};
use crate::config::{self, Config, Remembered};
use crate::runtime::{self, Daemon, Opener};

/// Options of the UI.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// Print an overview and then a line for each change, for screen readers and logs; Ctrl-C ends it
    #[arg(long)]
    pub plain: bool,
    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// Colours: dark, light, high-contrast, colour-blind, 16-colours, or one of your own
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
}

/// The UI where it can be used, else the overview; lines where they are asked for.
pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    if args.plain {
        plain::run(session, is_ascii(args))
    } else if session.globals.json || !has_terminal() {
        overview::run(session)
    } else {
        open(session, args)
    }
}

/// Whether the UI can be used here.
fn has_terminal() -> bool {
    let dumb = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    terminal && !dumb
}

fn open(session: &Session, args: &Args) -> Outcome {
    let config = configured(args)?;
    runtime::run(config, Box::new(Daemon::new(opener(session))))
        .map_err(|error| Failure::Io("the terminal cannot be used".into(), error))?;
    Ok(0)
}

/// What the connection of a UI is made with.
pub(super) fn opener(session: &Session) -> Opener {
    let globals = session.globals.clone();
    Box::new(move |start: bool| {
        let mut options = Session::new(globals.clone()).options()?;
        options.start &= start;
        Ok(options)
    })
}

/// Take over what was chosen before; a file that cannot be used is no reason not to start.
fn remembered(config: &mut Config) {
    let Some(path) = &config.state_path else {
        return;
    };
    let read = match fs::read_to_string(path) {
        Ok(text) => Remembered::parse(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => Err(error.to_string()),
    };
    match read {
        Ok(remembered) => config.take_remembered(remembered),
        Err(reason) => {
            let path = path.display();
            let note = format!("what you chose before is not used; {path}: {reason}");
            config.notes.push(note);
        }
    }
}

/// Whether only ASCII is wanted, or can be shown.
fn is_ascii(args: &Args) -> bool {
    args.ascii || !config::locale_is_unicode(|name| env::var_os(name))
}

fn configured(args: &Args) -> Result<Config, Failure> {
    let path = config::path(|name| env::var_os(name));
    let mut config = match &path {
        Some(path) => Config::load(path).map_err(|problems| {
            let lines: Vec<String> = problems
                .iter()
                .map(|problem| format!("{}: {problem}", path.display()))
                .collect();
            Failure::usage(lines.join("\n"), "correct the file, or move it away")
        })?,
        None => Config::default(),
    };
    config.state_path = config::state_path(|name| env::var_os(name));
    remembered(&mut config);
    if let Some(theme) = &args.theme {
        let names: Vec<String> = config.theme_names().collect();
        if !names.contains(theme) {
            return Err(Failure::usage(
                format!("there is no theme {theme:?}"),
                format!("there are {}", names.join(", ")),
            ));
        }
        config.theme.clone_from(theme);
    }
    config.mouse &= !args.no_mouse;
    config.ascii |= is_ascii(args);
    config.no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Ok(config)
}
