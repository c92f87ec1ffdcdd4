//! Random keys and messages: the model takes everything, and every picture can be drawn.
//!
//! The numbers come from a seed, so a failure repeats.

use crystalmath::error::IpcError;
use crystalmath::keymap::{Code, Key};
use crystalmath::msg::{Action, Effect, Link, Mouse, Msg, Tone};
use crystalmath::rpc::types::{JobState, JobSummary};
use serde_json::json;

use super::{NOW, Ui, job, page, ready};

/// `SplitMix64` (Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const CHARS: &[char] = &[
    'a', ' ', '1', ':', '>', '~', '-', '"', '晶', '\u{301}', '👩', '\u{200d}', 'é',
];
const CODES: &[Code] = &[
    Code::Enter,
    Code::Esc,
    Code::Tab,
    Code::Backspace,
    Code::Delete,
    Code::Up,
    Code::Down,
    Code::Left,
    Code::Right,
    Code::Home,
    Code::End,
    Code::PageUp,
    Code::PageDown,
    Code::F(5),
];

fn key(numbers: &mut Numbers) -> Key {
    match numbers.below(4) {
        0 => Key::char(*numbers.pick(CHARS)),
        1 => Key {
            shift: numbers.below(4) == 0,
            ..Key::plain(*numbers.pick(CODES))
        },
        // Mostly keys that do something; leaving would end the round.
        _ => {
            let info = numbers.pick(Action::all());
            let key = numbers.pick(info.keys);
            Key::parse(key).unwrap()
        }
    }
}

fn some(numbers: &mut Numbers) -> JobSummary {
    let id = i64::try_from(numbers.below(60)).unwrap() + 1;
    let mut job = job(id, numbers.pick(JobState::ALL).clone());
    job.rev = i64::try_from(numbers.below(1000)).unwrap();
    job.name = (0..numbers.below(30))
        .map(|_| *numbers.pick(CHARS))
        .collect();
    job.elapsed_s = [None, Some(-1.0), Some(1e300), Some(f64::NAN), Some(60.0)][numbers.below(5)];
    job.walltime_s = [None, Some(0.0), Some(3600.0)][numbers.below(3)];
    job.progress.fraction = [None, Some(2.0), Some(0.5)][numbers.below(3)];
    job.created_at = ["", "x", "2026-01-06T11:00:00Z"][numbers.below(3)].into();
    job
}

fn message(numbers: &mut Numbers, ui: &mut Ui) -> Msg {
    let place = |numbers: &mut Numbers| u16::try_from(numbers.below(200)).unwrap();
    match numbers.below(24) {
        0 => Msg::Resize(place(numbers), place(numbers) / 2),
        1 => Msg::Mouse(Mouse::Click(place(numbers), place(numbers) / 4)),
        2 => Msg::Mouse(Mouse::Wheel(
            0,
            0,
            if numbers.below(2) == 0 { 3 } else { -3 },
        )),
        3 => Msg::Paste((0..5).map(|_| *numbers.pick(CHARS)).collect()),
        4 => Msg::JobsChanged((0..numbers.below(9)).map(|_| some(numbers)).collect()),
        5 => Msg::JobsGone(vec![i64::try_from(numbers.below(60)).unwrap()]),
        6 => Msg::Resync,
        7 => Msg::Note(Tone::Warn, "n".repeat(numbers.below(300))),
        8 => {
            let down = Link::Down {
                cause: "c".repeat(numbers.below(200)),
                hint: None,
                log: None,
            };
            let links = [Link::Starting, Link::Busy, Link::Reconnecting, down];
            Msg::Link(numbers.pick(&links).clone())
        }
        9 => ready(["one", "two"][numbers.below(2)]),
        10 => Msg::Clock(NOW + f64::from(u32::try_from(numbers.below(1000)).unwrap())),
        11..=13 => match ui.effects.pop() {
            Some(Effect::Call { id, method, .. }) => Msg::Reply {
                id,
                result: match numbers.below(3) {
                    0 => Err(IpcError::Protocol("garbage".into())),
                    1 if method == "jobs.list" => Ok(page(
                        &[some(numbers)],
                        5,
                        Some("x").filter(|_| numbers.below(2) == 0),
                    )),
                    _ => Ok(json!({"status": "ok", "data": [{"id": 3, "ok": false}]})),
                },
            },
            _ => Msg::Reply {
                id: numbers.next(),
                result: Ok(json!(null)),
            },
        },
        _ => Msg::Key(key(numbers)),
    }
}

#[test]
fn nothing_panics() {
    for seed in 0..20 {
        let mut numbers = Numbers(seed);
        let sizes = [(80, 24), (120, 40), (40, 8), (200, 10), (1, 1), (0, 0)];
        let mut size = *numbers.pick(&sizes);
        let mut ui = Ui::new(size);
        for _ in 0..300 {
            let msg = message(&mut numbers, &mut ui);
            if let Msg::Resize(columns, rows) = &msg {
                size = (*columns, *rows);
            }
            ui.send(msg);
            if ui.model.take_dirty() {
                // A picture can be asked for in another size than the model knows for a moment.
                let other = *numbers.pick(&sizes);
                ui.buffer(if numbers.below(10) == 0 { other } else { size });
            }
            if let Some(at) = ui.model.wake_at() {
                assert!(!at.is_nan(), "seed {seed}");
            }
        }
    }
}
