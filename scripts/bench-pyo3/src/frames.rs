//! The time that a frame takes while the cursor is held down over the job list: every frame takes a
//! key and the answers that have come, asks for the job under the cursor and draws.
//!
//! Model, update and view are those of the UI; only the terminal is missing.

use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crystalmath::app::{Model, update, view};
use crystalmath::config::Config;
use crystalmath::keymap::Key;
use crystalmath::msg::{Effect, Link, Msg, Server};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use crate::Outcome;
use crate::peer::{Answer, Peer};

const SIZE: (u16, u16) = (120, 40);
const EVERY: Duration = Duration::from_millis(33);
const FRAMES: usize = 150;
const FILLED: Duration = Duration::from_secs(30);
/// What the daemon is needed for beside reading; not part of what is compared.
const UNASKED: &str = "events.subscribe";

struct Loop {
    model: Model,
    peer: Peer,
    answers: mpsc::Receiver<Answer>,
    sender: mpsc::Sender<Answer>,
    asked: HashMap<u64, Instant>,
    latencies: Vec<f64>,
}

pub fn measure(peer: Peer, load: Option<&str>) -> Outcome<Value> {
    let (sender, answers) = mpsc::channel();
    let mut turn = Loop {
        model: Model::new(Config::default(), SIZE, now()),
        peer,
        answers,
        sender,
        asked: HashMap::new(),
        latencies: Vec::new(),
    };
    turn.fill()?;
    if let Some(load) = load {
        turn.peer.burden(load)?;
    }
    turn.latencies.clear();
    let key = Key::parse("j").map_err(|error| format!("{error:?}"))?;
    let mut frames = Vec::with_capacity(FRAMES);
    for _ in 0..FRAMES {
        let begin = Instant::now();
        turn.frame(Some(key))?;
        frames.push(begin.elapsed().as_secs_f64() * 1e6);
        thread::sleep(EVERY.saturating_sub(begin.elapsed()));
    }
    Ok(json!({"frames": frames, "latencies": turn.latencies}))
}

impl Loop {
    /// Take the whole list in.
    fn fill(&mut self) -> Outcome<()> {
        let server = Server {
            version: String::new(),
            instance: "1".into(),
            data_dir: String::new(),
            same_contract: true,
        };
        let effects = update(&mut self.model, Msg::Link(Link::Ready(server)));
        self.carry_out(effects)?;
        let deadline = Instant::now() + FILLED;
        while !self.asked.is_empty() {
            if Instant::now() > deadline {
                return Err("the list does not come".into());
            }
            self.frame(None)?;
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn frame(&mut self, key: Option<Key>) -> Outcome<()> {
        let mut effects = update(&mut self.model, Msg::Clock(now()));
        while let Ok(Answer { id, result, at }) = self.answers.try_recv() {
            if let Some(asked) = self.asked.remove(&id) {
                let took = at.saturating_duration_since(asked);
                self.latencies.push(took.as_secs_f64() * 1e6);
            }
            if result["status"] != "ok" {
                return Err(format!("a call was refused: {result}").into());
            }
            let result = Ok(result);
            effects.extend(update(&mut self.model, Msg::Reply { id, result }));
        }
        if let Some(key) = key {
            effects.extend(update(&mut self.model, Msg::Key(key)));
        }
        self.carry_out(effects)?;
        let mut buffer = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1));
        view::draw(&self.model, &mut buffer);
        Ok(())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> Outcome<()> {
        for effect in effects {
            let Effect::Call { id, method, params } = effect else {
                continue;
            };
            self.asked.insert(id, Instant::now());
            if method == UNASKED {
                let (result, at) = (json!({"status": "ok", "data": {}}), Instant::now());
                self.sender.send(Answer { id, result, at })?;
            } else {
                self.peer.send(id, method, params, &self.sender)?;
            }
        }
        Ok(())
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
