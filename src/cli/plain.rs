//! `crystalmath --plain`: the overview, then one line for each change, until it is interrupted. No
//! alternate screen, nothing rewritten, no escape sequence: for screen readers and logs.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::SIGINT;
use signal_hook::low_level::pipe;

use super::output::{self, Failure, INTERRUPTED, Outcome};
use super::session::Session;
use super::{overview, ui, wait};
use crate::runtime::{self, Daemon, Quit, Told};
use crate::widgets;

pub(super) fn run(session: &Session, ascii: bool) -> Outcome {
    if session.globals.json {
        return Err(Failure::usage(
            "one JSON document cannot follow jobs",
            "leave out --plain",
        ));
    }
    // Without a daemon at the start there is nothing to follow; later ones are waited for.
    let first = Session::new(session.globals.clone());
    first.client()?;
    let mut first = Some(first);
    let line = |text: &str| {
        if ascii {
            output::line(&widgets::ascii::of(text))
        } else {
            output::line(text)
        }
    };
    let interrupted = wait::interrupt()?;
    let service = Box::new(Daemon::new(ui::opener(session)));
    let flag = Arc::clone(&interrupted);
    runtime::tell(
        service,
        |quit| quit_when(flag, quit),
        |told| match told {
            Told::Begun => match first.take() {
                Some(session) => line(&overview::ask(&session, false)?.1),
                None => Ok(()),
            },
            Told::Line(text) => line(&text),
        },
    )?;
    Ok(INTERRUPTED)
}

/// Have an interrupt end the telling.
fn quit_when(interrupted: Arc<AtomicBool>, quit: Quit) -> Result<(), Failure> {
    let no_handler = |error| Failure::Io("cannot watch for an interrupt".into(), error);
    let (mut woken, wake) = UnixStream::pair().map_err(no_handler)?;
    // A signal writes one byte, which ends the wait of the thread.
    pipe::register(SIGINT, wake).map_err(no_handler)?;
    let wait = move || {
        while !interrupted.load(Ordering::Relaxed) {
            if woken.read_exact(&mut [0]).is_err() {
                break;
            }
        }
        quit.quit();
    };
    thread::Builder::new()
        .name("plain-signal".into())
        .spawn(wait)
        .map_err(no_handler)?;
    Ok(())
}
