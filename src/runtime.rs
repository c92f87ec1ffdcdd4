//! The loop of the terminal UI: what the terminal and the daemon say becomes messages, `update` takes
//! them in, effects are carried out elsewhere, and what has changed is drawn.
//!
//! One thread owns the model and the terminal. It waits for nothing but the next message; with
//! nothing to do it sleeps, draws nothing and costs nothing.

mod effects;
mod input;
mod keeper;
mod lines;
mod pace;
mod programs;
mod service;
mod terminal;

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::app::{Client, Model, update};
use crate::config::Config;
use crate::msg::{Effect, Msg};
use crate::submission;
use effects::Worker;
use input::Input;
use pace::Pace;
use terminal::Screen;

pub use lines::{Quit, Told, tell};
pub use service::Service;
#[cfg(feature = "ipc")]
pub use service::{Daemon, Opener};

/// The most messages that are taken in before the next draw.
const BATCH: usize = 1000;

/// Run the UI until the user leaves.
///
/// # Errors
/// The terminal cannot be used.
pub fn run(config: Config, service: Box<dyn Service>) -> io::Result<()> {
    let (sender, messages) = mpsc::channel();
    // The daemon is reached while the terminal is prepared.
    let mut worker = Worker::new(service, sender.clone());
    worker.carry_out(Effect::Connect { start: true });
    worker.keep_at(config.state_path.clone());
    let mouse = config.mouse;
    let mut screen = Screen::open(mouse)?;
    let mut model = Model::new(config, screen.size(), unix_now());
    model.data.client = client();
    let input = Input::start(sender.clone())?;
    let outcome = turn(
        &mut model,
        &mut screen,
        &messages,
        &sender,
        &mut worker,
        &input,
    );
    drop(screen);
    outcome
}

/// What screens need to know of this process.
fn client() -> Client {
    Client {
        // Without one, paths have to be given in full.
        directory: std::env::current_dir().unwrap_or_default(),
        home: std::env::var_os("HOME").map(PathBuf::from),
        context: submission::own_context(),
        token: submission::client_token(),
    }
}

/// Seconds since 1970.
pub(crate) fn unix_now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |duration| duration.as_secs_f64())
}

fn turn(
    model: &mut Model,
    screen: &mut Screen,
    messages: &Receiver<Msg>,
    sender: &Sender<Msg>,
    worker: &mut Worker,
    input: &Input,
) -> io::Result<()> {
    let mut pace = Pace::new(Instant::now());
    let (mut dirty, mut urgent) = (true, true);
    loop {
        if dirty && pace.wait(Instant::now(), urgent).is_zero() {
            screen.draw(model)?;
            pace.drew(Instant::now());
            (dirty, urgent) = (false, false);
        }
        let mut patience = model.wake_at().map(until);
        if dirty {
            let next = pace.wait(Instant::now(), urgent);
            patience = Some(patience.map_or(next, |patience| patience.min(next)));
        }
        let Some(batch) = next_batch(messages, patience) else {
            return Ok(());
        };
        for effect in take(model, batch, screen, &mut urgent)? {
            match effect {
                Effect::Copy(text) => screen.copy(&text)?,
                Effect::Notify { title, body } => screen.notify(&title, &body)?,
                Effect::Run { program, directory } => {
                    let note = screen.lend(input, || programs::run(&program, &directory))?;
                    // The loop itself holds the other end.
                    let _ = sender.send(note);
                    let _ = sender.send(Msg::Returned);
                    dirty = true;
                }
                other => worker.carry_out(other),
            }
        }
        dirty |= model.take_dirty();
        if model.wants_quit() {
            return Ok(());
        }
    }
}

fn until(at: f64) -> Duration {
    Duration::try_from_secs_f64(at - unix_now()).unwrap_or(Duration::ZERO)
}

/// The messages that are there, waiting for the first one at most this long; `None` when no more
/// can come.
fn next_batch(messages: &Receiver<Msg>, patience: Option<Duration>) -> Option<Vec<Msg>> {
    let first = match patience {
        None => match messages.recv() {
            Ok(first) => Some(first),
            Err(_) => return None,
        },
        Some(patience) => match messages.recv_timeout(patience) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return None,
        },
    };
    let rest = messages.try_iter().take(BATCH);
    Some(first.into_iter().chain(rest).collect())
}

/// Take a batch in; what the user does is urgent.
fn take(
    model: &mut Model,
    batch: Vec<Msg>,
    screen: &mut Screen,
    urgent: &mut bool,
) -> io::Result<Vec<Effect>> {
    let mut effects = update(model, Msg::Clock(unix_now()));
    for msg in batch {
        match &msg {
            Msg::Key(_) | Msg::Paste(_) | Msg::Mouse(_) => *urgent = true,
            Msg::Resize(columns, rows) => {
                screen.resize(*columns, *rows)?;
                *urgent = true;
            }
            _ => {}
        }
        effects.extend(update(model, msg));
    }
    Ok(effects)
}
