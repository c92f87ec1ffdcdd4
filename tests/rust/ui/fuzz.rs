//! Random keys and messages: the model takes everything, and every picture can be drawn.
//!
//! The numbers come from a seed, so a failure repeats.

use crystalmath::error::IpcError;
use crystalmath::keymap::{Code, Key};
use crystalmath::msg::{Action, Effect, Entry, Link, Mouse, Msg, Tone, Unwritten};
use crystalmath::rpc::types::{JobState, JobSummary};
use crystalmath::submission::{Doubt, Kind};
use serde_json::{Value, json};

use super::clusters::{cluster, clusters, report};
use super::engines::{checked, reading, told_worker};
use super::job::{detail, files};
use super::materials::{self, deck, found, inspected, providers};
use super::new_job::codes;
use super::new_job_deck::{codes as decks, discovered, dry_run};
use super::queue::queue;
use super::templates::{finding, list as templates, rendered};
use super::workflows::{completed, failed, list as workflows, row, running};
use super::{NOW, Ui, job, page, ready};

/// `SplitMix64` (Steele, Lea and Flood 2014).
pub struct Numbers(u64);

impl Numbers {
    pub const fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
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

const PIECES: &[&str] = &[
    "step 1\n",
    " 10%\r 50%\r",
    "\u{1b}[31m",
    "\u{1b}]0;",
    "\n\n",
    "晶\u{301}👩\u{200d}",
    "\0\u{9b}\u{202e}",
    "\t",
    "\u{fffd}\u{fffd}",
    "a rather long piece of text without a line end ",
];

fn words(numbers: &mut Numbers) -> String {
    let count = numbers.below(40);
    (0..count).map(|_| *numbers.pick(PIECES)).collect()
}

fn entry(numbers: &mut Numbers) -> Entry {
    Entry {
        name: (0..numbers.below(12))
            .map(|_| *numbers.pick(CHARS))
            .collect(),
        is_dir: numbers.below(3) == 0,
        bytes: numbers.next(),
    }
}

/// An answer of the right sort for most methods, with odd contents.
fn answer(numbers: &mut Numbers, method: &str) -> Value {
    match method {
        "jobs.log" | "jobs.read_file" => {
            let text = words(numbers);
            let start = numbers.below(3000);
            json!({"data": {
                "text": text, "start": start, "offset": start + text.len(),
                "size": numbers.pick(&[0, 100, 2000, 1_000_000_000]),
                "eof": numbers.below(2) == 0, "path": numbers.pick(&["a.log", "b.log"]),
            }})
        }
        "jobs.get" => detail(&some(numbers)),
        "jobs.files" => files(),
        "jobs.series" => {
            let odd = [
                Some(0.0),
                Some(-1.0),
                None,
                Some(1e308),
                Some(-1e308),
                Some(5e-324),
            ];
            let y: Vec<Option<f64>> = (0..numbers.below(9)).map(|_| *numbers.pick(&odd)).collect();
            let x: Vec<Option<f64>> = (0..numbers.below(9)).map(|_| *numbers.pick(&odd)).collect();
            json!({"data": {"series": {"energy": {"x": x, "y": y, "unit": "eV"},
                                       "晶": {"x": [], "y": [1.0, null]}}}})
        }
        "codes.list" if numbers.below(2) == 0 => decks(),
        "codes.list" => codes(),
        "rpc.discover" => discovered(),
        "templates.list" => templates(),
        "templates.render" => rendered(&[finding(), json!([])][numbers.below(2)]),
        "codes.lint" => {
            let severity = ["error", "warning", "?"][numbers.below(3)];
            json!({"data": [{"line": numbers.below(60), "column": numbers.below(3), "code": "x",
                             "message": words(numbers), "severity": severity}]})
        }
        "workflows.list" => workflows(),
        "workflows.get" => odd_workflow(numbers),
        "workflows.available" => super::new_workflow::kinds(),
        "workflows.cancel" | "workflows.resume" | "workflows.retry" => {
            json!({"data": {"workflow": odd_row(numbers)}})
        }
        method if method.starts_with("workflows.create_") => {
            json!({"data": {"workflow": odd_row(numbers)}})
        }
        "clusters.list" => clusters(),
        "clusters.test" => json!({"data": report(&json!({"noise": [words(numbers)]}))}),
        "clusters.create" | "clusters.update" => {
            json!({"data": cluster(i64::try_from(numbers.below(5)).unwrap(), &words(numbers), &json!({}))})
        }
        "materials.providers" => providers(),
        "materials.search" => {
            let odd = json!({"formula": words(numbers), "generatable": numbers.below(2) == 0});
            let rows = [found("embedded", "A1", &json!({})), found("cod", "x", &odd)];
            materials::answer(
                ["embedded", "cod", "?"][numbers.below(3)],
                ["ok", "timeout", "?"][numbers.below(3)],
                &rows,
            )
        }
        "materials.inspect" => odd_cell(numbers),
        "materials.generate_d12" => deck(),
        "slurm.queue" => queue(),
        "slurm.cancel" | "slurm.release" => {
            let outcome = ["asked", "not_done", "?"][numbers.below(3)];
            json!({"data": [{"job_id": "8100", "outcome": outcome}]})
        }
        "forces.engines" | "forces.workers" | "forces.status" | "forces.environments" => {
            reading(method)
        }
        "forces.doctor" => checked(["passed", "failed", "?"][numbers.below(3)]),
        "forces.gc" => json!({"data": [{"kind": "?", "name": words(numbers), "size_bytes": -1}]}),
        "jobs.submit" => match numbers.below(4) {
            0 => json!({"data": {"job": some(numbers)}}),
            1 => json!({"data": {"dry_run": {"files": [{"path": "x", "content": words(numbers)}],
                                             "argv": ["a"], "task": words(numbers)}}}),
            2 => dry_run(&words(numbers)),
            _ => json!({"data": {}}),
        },
        _ => json!({"data": {"job": some(numbers), "fix": words(numbers), "changes": [{}]}}),
    }
}

fn odd_row(numbers: &mut Numbers) -> Value {
    let state = ["RUNNING", "WAITING", "COMPLETED", "FAILED", "?"][numbers.below(5)];
    let id = i64::try_from(numbers.below(7)).unwrap();
    row(
        id,
        state,
        &json!({"name": words(numbers), "rev": numbers.below(100)}),
    )
}

/// A workflow with something in it that makes no sense.
fn odd_workflow(numbers: &mut Numbers) -> Value {
    let mut whole = [running, failed, completed][numbers.below(3)]();
    let data = &mut whole["data"];
    match numbers.below(6) {
        0 => data["graph"][0]["after"] = json!(["relax", "fit", "nobody"]),
        1 => data["graph"] = json!([]),
        2 => data["graph"][0]["name"] = json!(words(numbers)),
        3 => data["results"]["plots"] = json!([{"curves": [{"x": [1.0], "y": []}]}, {}]),
        4 => data["results"]["tables"] = json!([{"columns": [{"values": [1]}, {"values": []}]}]),
        _ => data["message"] = json!(words(numbers)),
    }
    whole
}

/// Rock salt with one number that makes no sense.
fn odd_cell(numbers: &mut Numbers) -> Value {
    let mut found = inspected();
    let atoms = &mut found["data"]["atoms"];
    let odd = [
        json!(1e300),
        json!(-1e-300),
        json!(null),
        json!(0.0),
        json!(4.2),
    ];
    match numbers.below(4) {
        0 => atoms["lattice_angstrom"] = json!(null),
        1 => atoms["lattice_angstrom"][numbers.below(3)][0] = numbers.pick(&odd).clone(),
        2 => atoms["positions_angstrom"][numbers.below(8)][1] = numbers.pick(&odd).clone(),
        _ => atoms["symbols"][0] = json!(words(numbers)),
    }
    found
}

fn message(numbers: &mut Numbers, ui: &mut Ui) -> Msg {
    let place = |numbers: &mut Numbers| u16::try_from(numbers.below(200)).unwrap();
    match numbers.below(27) {
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
                    _ if method != "jobs.list" && numbers.below(4) > 0 => {
                        Ok(answer(numbers, method))
                    }
                    1 if method == "jobs.list" => Ok(page(
                        &[some(numbers)],
                        5,
                        Some("x").filter(|_| numbers.below(2) == 0),
                    )),
                    _ => Ok(json!({"status": "ok", "data": [{"id": 3, "ok": false}]})),
                },
            },
            Some(Effect::ListDirectory { id, .. }) => Msg::Directory {
                id,
                result: match numbers.below(3) {
                    0 => Err("no".into()),
                    _ => Ok((0..numbers.below(60)).map(|_| entry(numbers)).collect()),
                },
            },
            Some(Effect::LookAtFile { id, .. }) => Msg::FileSeen {
                id,
                result: [
                    Ok(Kind::CrystalDeck),
                    Ok(Kind::Structure),
                    Ok(Kind::Program),
                    Ok(Kind::Unknown),
                    Ok(Kind::Deck),
                    Ok(Kind::Either(Doubt::DeckInside)),
                    Err("no".into()),
                ][numbers.below(7)]
                .clone(),
            },
            Some(Effect::ReadText { id, .. }) => Msg::TextRead {
                id,
                result: match numbers.below(4) {
                    0 => Err("no".into()),
                    _ => Ok(words(numbers)),
                },
            },
            Some(Effect::WriteText { id, .. }) => Msg::TextWritten {
                id,
                result: [
                    Ok(()),
                    Err(Unwritten::Exists),
                    Err(Unwritten::Failed("no".into())),
                ][numbers.below(3)]
                .clone(),
            },
            Some(Effect::Run { .. }) => Msg::Returned,
            _ => Msg::Reply {
                id: numbers.next(),
                result: Ok(json!(null)),
            },
        },
        16 => {
            let row = odd_row(numbers);
            Msg::WorkflowsChanged(vec![serde_json::from_value(row).unwrap()])
        }
        15 => Msg::EngineNews(vec![told_worker(
            ["w1", "w2", "w3"][numbers.below(3)],
            ["idle", "busy", "crashed", "stopped", "?"][numbers.below(5)],
        )]),
        14 => Msg::LogGrown {
            job: i64::try_from(numbers.below(60)).unwrap(),
            stream: ["output", "stderr", "?"][numbers.below(3)].into(),
            bytes: numbers.next() % 5000,
        },
        _ => Msg::Key(key(numbers)),
    }
}

#[test]
fn nothing_panics() {
    for seed in 0..40 {
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
