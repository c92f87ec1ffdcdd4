//! The UI without a screen: the same model, fed by the same daemon, whose changes are told as lines.
//! Nothing is drawn, and no key is read.

use std::sync::mpsc;

use super::effects::Worker;
use super::service::Service;
use super::{next_batch, unix_now, until};
use crate::app::{Lines, Model, update};
use crate::config::Config;
use crate::msg::{Effect, Msg};

/// Ends [`tell`] from another thread.
#[derive(Debug, Clone)]
pub struct Quit(mpsc::Sender<Msg>);

impl Quit {
    /// End it.
    pub fn quit(&self) {
        // It may have ended already.
        let _ = self.0.send(Msg::Quit);
    }
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The list is there; from now on its changes are told.
    Begun,
    /// Something has changed.
    Line(String),
}

/// Tell what changes until [`Quit`]; `ready` gets the means to quit before anything is waited for.
///
/// # Errors
/// What `ready` or `say` fails with.
pub fn tell<E>(
    service: Box<dyn Service>,
    ready: impl FnOnce(Quit) -> Result<(), E>,
    mut say: impl FnMut(Told) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, messages) = mpsc::channel();
    ready(Quit(sender.clone()))?;
    let mut worker = Worker::new(service, sender);
    worker.carry_out(Effect::Connect { start: true });
    // Without a window no screen is seen, so none asks for anything.
    let mut model = Model::new(Config::default(), (0, 0), unix_now());
    let mut lines = Lines::default();
    while let Some(batch) = next_batch(&messages, model.wake_at().map(until)) {
        let mut effects = update(&mut model, Msg::Clock(unix_now()));
        for msg in batch {
            effects.extend(update(&mut model, msg));
        }
        for effect in effects {
            worker.carry_out(effect);
        }
        let begun = lines.has_begun();
        let news = lines.look(&model.data);
        if lines.has_begun() && !begun {
            say(Told::Begun)?;
        }
        for line in news {
            say(Told::Line(line))?;
        }
        if model.wants_quit() {
            break;
        }
    }
    Ok(())
}
