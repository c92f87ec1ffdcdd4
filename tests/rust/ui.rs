//! The terminal UI: what its model does with messages, and what it draws.
//!
//! Here is what the files below share: jobs, a model that is fed by hand, and its picture as text.

mod actions;
mod clock;
mod clusters;
mod commands;
mod engines;
mod filter;
mod fuzz;
mod header;
mod job;
mod job_gone;
mod job_log;
mod job_tables;
mod jobs;
mod late_codes;
mod lines;
mod link;
mod materials;
mod mouse;
mod new_job;
mod new_job_deck;
mod new_workflow;
mod queue;
mod settings;
mod snapshots;
mod templates;
mod text;
mod workflows;

use std::fmt::Write as _;

use crystalmath::app::{Model, update, view};
use crystalmath::config::Config;
use crystalmath::error::IpcError;
use crystalmath::keymap::Key;
use crystalmath::msg::{Effect, Link, Msg, Server};
use crystalmath::rpc::types::{JobState, JobSummary};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

/// 2026-01-06 12:00:00 UTC.
pub const NOW: f64 = 1_767_700_800.0;

/// The job with this number.
pub fn job(id: i64, state: JobState) -> JobSummary {
    JobSummary {
        id,
        uuid: format!("{id:032x}"),
        name: format!("job {id}"),
        code: "forces".into(),
        task: Some("relax".into()),
        state,
        runner: "local".into(),
        created_at: "2026-01-06T11:00:00Z".into(),
        rev: id,
        ..JobSummary::default()
    }
}

/// A handful of jobs in all sorts of states.
pub fn some_jobs() -> Vec<JobSummary> {
    let mut jobs = vec![
        job(1, JobState::Completed),
        job(2, JobState::Failed),
        job(3, JobState::Running),
        job(4, JobState::Submitted),
        job(5, JobState::Cancelled),
        job(6, JobState::Completed),
        job(7, JobState::Lost),
        job(8, JobState::Running),
    ];
    jobs[0].name = "copper relax".into();
    jobs[0].science.energy_ev = Some(-0.026_918);
    jobs[0].elapsed_s = Some(3.4);
    jobs[1].reason = Some("out_of_memory".into());
    jobs[1].elapsed_s = Some(4000.0);
    jobs[2].name = "MgO 晶体 vc-relax".into();
    jobs[2].code = "espresso".into();
    jobs[2].cluster = Some("hpc1".into());
    jobs[2].elapsed_s = Some(11_530.0);
    jobs[2].walltime_s = Some(28_800.0);
    jobs[2].progress.fraction = Some(0.4);
    jobs[2].progress.text = "step 9  |F| 0.04".into();
    jobs[4].name = "a name that is much too long for the column it stands in".into();
    jobs[5].science.converged = Some(false);
    jobs[6].attention = Some("unreachable for 2 h".into());
    jobs[6].cluster = Some("hpc1".into());
    jobs[7].elapsed_s = Some(59.0);
    jobs[7].tags = vec!["test".into()];
    jobs
}

pub fn ready(instance: &str) -> Msg {
    Msg::Link(Link::Ready(Server {
        version: "0.1.0".into(),
        instance: instance.into(),
        data_dir: "/data".into(),
        same_contract: true,
    }))
}

/// A model that is fed by hand, with everything it asked for.
pub struct Ui {
    pub model: Model,
    pub effects: Vec<Effect>,
}

impl Ui {
    pub fn new(size: (u16, u16)) -> Self {
        Self::with(Config::default(), size)
    }

    pub fn with(config: Config, size: (u16, u16)) -> Self {
        Self {
            model: Model::new(config, size, NOW),
            effects: Vec::new(),
        }
    }

    /// Connected to a daemon without events, with these jobs.
    pub fn of(jobs: &[JobSummary], size: (u16, u16)) -> Self {
        let mut ui = Self::new(size);
        ui.connect(jobs);
        ui
    }

    pub fn connect(&mut self, jobs: &[JobSummary]) {
        self.send(ready("one"));
        self.answer("events.subscribe", Err(not_built()));
        self.answer("jobs.list", Ok(page(jobs, 100, None)));
        if self.asked("clusters.list").is_some() {
            // For the header, where a job lives on a cluster.
            let none = json!({"status": "ok", "data": [], "meta": {"total": 0}});
            self.answer("clusters.list", Ok(none));
        }
    }

    pub fn send(&mut self, msg: Msg) {
        let effects = update(&mut self.model, msg);
        self.effects.extend(effects);
    }

    pub fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            self.send(Msg::Key(Key::parse(key).unwrap()));
        }
    }

    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.send(Msg::Key(Key::char(c)));
        }
    }

    pub fn clock(&mut self, seconds: f64) {
        self.send(Msg::Clock(NOW + seconds));
    }

    /// The first call of a method that is not answered yet.
    pub fn asked(&self, wanted: &str) -> Option<(u64, Value)> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Call { id, method, params } if *method == wanted => Some((*id, params.clone())),
            _ => None,
        })
    }

    /// Answer the first call of a method; gives its params.
    pub fn answer(&mut self, method: &str, result: Result<Value, IpcError>) -> Value {
        let (id, params) = self
            .asked(method)
            .unwrap_or_else(|| panic!("{method} was not asked"));
        self.effects
            .retain(|effect| !matches!(effect, Effect::Call { id: other, .. } if *other == id));
        self.send(Msg::Reply { id, result });
        params
    }

    pub fn buffer(&self, size: (u16, u16)) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
        view::draw(&self.model, &mut buffer);
        buffer
    }

    pub fn picture(&self, size: (u16, u16)) -> String {
        picture(&self.buffer(size))
    }
}

/// The characters of a buffer, line by line.
pub fn picture(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut hidden = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if hidden > 0 {
                hidden -= 1;
                continue;
            }
            hidden = crystalmath::widgets::text::width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

pub fn page(jobs: &[JobSummary], rev: i64, next: Option<&str>) -> Value {
    json!({
        "status": "ok",
        "data": jobs,
        "meta": {"rev": rev, "total": jobs.len(), "next": next},
    })
}

pub fn unchanged(rev: i64) -> Value {
    json!({"status": "unchanged", "data": [], "meta": {"rev": rev}})
}

pub fn not_built() -> IpcError {
    refused("not_implemented", "not built yet")
}

pub fn refused(kind: &str, message: &str) -> IpcError {
    IpcError::Rpc {
        code: -32000,
        message: message.into(),
        data: json!({"kind": kind}),
    }
}
