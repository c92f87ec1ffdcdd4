//! Waiting for a workflow, with a line about each step on stderr.
//!
//! The workflow belongs to the daemon: an interrupt ends the waiting alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{plot, show};
use crate::cli::news::{News, Told};
use crate::cli::output::{Failure, INTERRUPTED, Outcome};
use crate::cli::session::Session;
use crate::cli::wait::{LONGEST_PAUSE, Line, PATIENCE, TICK, WaitArgs, interrupt, passes};
use crate::error::Result;
use crate::rpc::fit;
use crate::rpc::types::{Reply, StepView, Workflow};

/// Say what became of a call about workflow `id`, and wait for it if that is wanted.
pub(super) fn follow(
    session: &Session,
    raw: &Value,
    id: i64,
    said: &str,
    args: Option<&WaitArgs>,
) -> Outcome {
    let Some(args) = args.filter(|args| args.wait) else {
        session.print(raw, || said.to_owned())?;
        return Ok(0);
    };
    let mut watch = Watch {
        session,
        id,
        until: args
            .timeout
            .map(|seconds| Instant::now() + Duration::from_secs_f64(seconds)),
        interrupted: interrupt()?,
        line: Line::new(session.globals.json),
        said: said.to_owned(),
        told: BTreeMap::new(),
    };
    watch.line.say(said);
    let ended = watch.until_ended();
    watch.line.clear();
    let (raw, workflow) = ended?;
    let drawn = plot::first(session, &workflow);
    session.print(&raw, || {
        show::outcome(&workflow, drawn.as_deref(), session.colour())
    })?;
    Ok(u8::from(workflow.state.as_str() != "COMPLETED"))
}

struct Watch<'a> {
    session: &'a Session,
    id: i64,
    until: Option<Instant>,
    interrupted: Arc<AtomicBool>,
    line: Line,
    /// The last sentence about a step.
    said: String,
    /// What was said of each step: its state, and which attempt.
    told: BTreeMap<String, (String, i64)>,
}

impl Watch<'_> {
    fn until_ended(&mut self) -> std::result::Result<(Value, Workflow), Failure> {
        // Before the first look, so that nothing happens in between.
        let mut news = News::of(self.session.client()?, &["workflows"]);
        let mut heard = Instant::now();
        loop {
            match self.look() {
                Ok((raw, workflow)) => {
                    heard = Instant::now();
                    self.tell(&workflow);
                    if workflow.state.as_str() != "RUNNING" {
                        return Ok((raw, workflow));
                    }
                }
                Err(error) if passes(&error) && heard.elapsed() < PATIENCE => {
                    let said = format!("workflow {}: {error}; trying again", self.id);
                    self.line.say(&said);
                }
                Err(error) => return Err(error.into()),
            }
            self.rest(&mut news)?;
        }
    }

    /// Wait until the workflow is worth another look.
    fn rest(&self, news: &mut Option<News>) -> std::result::Result<(), Failure> {
        let next = Instant::now() + LONGEST_PAUSE;
        while Instant::now() < next {
            self.stop()?;
            match news.as_ref().map(|news| news.next(TICK)) {
                Some(Told::Workflow(workflow)) if workflow.id == self.id => return Ok(()),
                Some(Told::LookAgain) => return Ok(()),
                Some(Told::Over) => *news = None,
                Some(Told::Away) | None => std::thread::sleep(TICK),
                Some(_) => {}
            }
        }
        self.stop()
    }

    fn look(&self) -> Result<(Value, Workflow)> {
        let raw = self.session.ask("workflows.get", json!({"id": self.id}))?;
        let reply: Reply<Workflow> = fit("workflows.get", &raw)?;
        Ok((raw, reply.data))
    }

    /// Say once what a step has come to, and keep the last line for what is going on.
    fn tell(&mut self, workflow: &Workflow) {
        for step in &workflow.graph {
            let now = (step.state.as_str().to_owned(), step.attempt);
            if self.told.get(&step.name) == Some(&now) {
                continue;
            }
            if step.state.as_str() != "PENDING" {
                self.said = sentence(step);
                self.line.say(&self.said);
            }
            self.told.insert(step.name.clone(), now);
        }
        let steps = &workflow.steps;
        let doing = workflow
            .graph
            .iter()
            .find_map(|step| step.progress.as_deref());
        let line = format!(
            "workflow {}  {} of {} steps done  {}",
            self.id,
            steps.completed,
            steps.total,
            doing.unwrap_or_default()
        );
        if workflow.state.as_str() == "RUNNING" {
            self.line.progress(&self.said, &line);
        }
    }

    fn stop(&self) -> std::result::Result<(), Failure> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(self.unfinished("interrupted", INTERRUPTED));
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Err(self.unfinished("timeout", 1));
        }
        Ok(())
    }

    fn unfinished(&self, kind: &'static str, exit: u8) -> Failure {
        Failure::Unfinished {
            kind,
            what: "workflow",
            id: self.id,
            exit,
        }
    }
}

fn sentence(step: &StepView) -> String {
    let job = step
        .job
        .map(|job| format!(" (job {job})"))
        .unwrap_or_default();
    let attempt = match step.attempt {
        1 => String::new(),
        n => format!(", attempt {n}"),
    };
    let why = step
        .message
        .as_deref()
        .filter(|_| step.state.as_str() != "COMPLETED")
        .map(|why| format!(": {why}"))
        .unwrap_or_default();
    format!(
        "{}  {}{job}{attempt}  {}{why}",
        step.name,
        step.state.as_str(),
        step.title
    )
}
