//! `crystalmath watch`: one line for every change of some jobs, or of all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::jobs;
use super::news::{News, Told};
use super::output::{self, Failure, INTERRUPTED, Outcome};
use super::session::{Session, note};
use super::text;
use super::wait::{self, LONGEST_PAUSE, PATIENCE, TICK};
use super::wording::{self, Commands};
use crate::clusters::{self, Verdict};
use crate::rpc::types::{ClusterView, JobIdParams, JobSummary, ListParams, calls};

/// The most topics of one subscription; more jobs are watched as all jobs are.
const TOPICS: usize = 64;

/// Arguments of `watch`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Numbers of the jobs; all jobs when left out, until it is interrupted
    pub ids: Vec<i64>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    if session.globals.json {
        return Err(Failure::usage(
            "one JSON document cannot follow jobs",
            "leave out --json",
        ));
    }
    let mut watching = Watching {
        session,
        ids: &args.ids,
        seen: BTreeMap::new(),
        clusters: BTreeMap::new(),
        begun: false,
        interrupted: wait::interrupt()?,
    };
    watching.until_ended()
}

/// What was said of a job last.
#[derive(PartialEq)]
struct Seen {
    line: String,
    ended: bool,
    completed: bool,
}

struct Watching<'a> {
    session: &'a Session,
    ids: &'a [i64],
    seen: BTreeMap<i64, Seen>,
    /// What was said of a cluster last.
    clusters: BTreeMap<i64, String>,
    begun: bool,
    interrupted: Arc<AtomicBool>,
}

impl Watching<'_> {
    fn until_ended(&mut self) -> Outcome {
        let topics: Vec<String> = self.ids.iter().map(|id| format!("job:{id}")).collect();
        let topics: Vec<&str> = match topics.len() {
            1..=TOPICS => topics.iter().map(String::as_str).collect(),
            _ => vec!["jobs", "clusters"],
        };
        // Before the first look, so that nothing happens in between.
        let mut news = News::of(self.session.client()?, &topics);
        let mut heard = Instant::now();
        loop {
            match self.look() {
                Ok(()) => heard = Instant::now(),
                Err(Failure::Ipc(error)) if wait::passes(&error) && heard.elapsed() < PATIENCE => {
                    note(&format!("{error}; trying again"));
                }
                Err(failure) => return Err(failure),
            }
            if let Some(code) = self.verdict() {
                return Ok(code);
            }
            let waited = match &news {
                Some(told) => self.listen(told)?,
                None => false,
            };
            if let Some(code) = self.verdict() {
                return Ok(code);
            }
            if !waited {
                news = news.filter(|told| !told.is_over());
                self.rest();
            }
        }
    }

    /// Tell what happens until something may have been missed; false when nothing will be told.
    fn listen(&mut self, news: &News) -> Result<bool, Failure> {
        while self.verdict().is_none() {
            match news.next(TICK) {
                Told::Job(job) => self.say(&job)?,
                Told::Removed(id) => self.say_removed(id)?,
                Told::Cluster(cluster) => self.say_cluster(&cluster)?,
                Told::LookAgain => return Ok(true),
                Told::Away | Told::Over => return Ok(false),
                Told::Log(_) | Told::Install(_) | Told::Workflow(_) | Told::Nothing => {}
            }
        }
        Ok(true)
    }

    fn rest(&self) {
        let until = Instant::now() + LONGEST_PAUSE;
        while Instant::now() < until && !self.interrupted.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
        }
    }

    /// Ask for everything that is watched. What is there when all jobs are watched is no change.
    fn look(&mut self) -> Result<(), Failure> {
        if self.ids.is_empty() {
            let page = self
                .session
                .call::<calls::JobsList>(&ListParams::default())?
                .read
                .data;
            for job in page.iter().rev() {
                if self.begun {
                    self.say(job)?;
                } else {
                    self.seen.insert(job.id, seen(job));
                }
            }
            self.begun = true;
            return Ok(());
        }
        for &id in self.ids {
            if self.seen.get(&id).is_some_and(|seen| seen.ended) {
                continue;
            }
            match self.session.call::<calls::JobsGet>(&JobIdParams { id }) {
                Ok(answer) => self.say(&wait::summary(&answer.read.data))?,
                Err(error) if error.kind() == "not_found" && self.seen.contains_key(&id) => {
                    self.say_removed(id)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn say(&mut self, job: &JobSummary) -> Result<(), Failure> {
        if !self.ids.is_empty() && !self.ids.contains(&job.id) {
            return Ok(());
        }
        let now = seen(job);
        if self.seen.get(&job.id) == Some(&now) {
            return Ok(());
        }
        output::line(&now.line)?;
        self.seen.insert(job.id, now);
        Ok(())
    }

    /// A cluster is in trouble, or answers again; that it is well is no news at first.
    fn say_cluster(&mut self, cluster: &ClusterView) -> Result<(), Failure> {
        let (health, verdict) = clusters::health(cluster);
        let trouble = cluster.last_error.as_deref().unwrap_or_default();
        let trouble = wording::speak_of(Commands::Clusters, trouble, None);
        let line = format!("cluster {}  {health}  {trouble}", cluster.name);
        let line = text::fit(line.trim_end(), usize::MAX);
        let before = self.clusters.insert(cluster.id, line.clone());
        let is_news = match &before {
            None => verdict == Verdict::Bad,
            Some(before) => *before != line,
        };
        if is_news { output::line(&line) } else { Ok(()) }
    }

    fn say_removed(&mut self, id: i64) -> Result<(), Failure> {
        if !self.ids.is_empty() && !self.ids.contains(&id) {
            return Ok(());
        }
        output::line(&format!("job {id}  removed"))?;
        let gone = Seen {
            line: String::new(),
            ended: true,
            completed: false,
        };
        self.seen.insert(id, gone);
        Ok(())
    }

    /// The exit code, when there is nothing more to wait for.
    fn verdict(&self) -> Option<u8> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(INTERRUPTED);
        }
        let of = |id| self.seen.get(id).filter(|seen| seen.ended);
        let ends: Option<Vec<&Seen>> = self.ids.iter().map(of).collect();
        let ends = ends.filter(|ends| !ends.is_empty())?;
        Some(u8::from(!ends.iter().all(|seen| seen.completed)))
    }
}

fn seen(job: &JobSummary) -> Seen {
    let state = job.state.as_str();
    let line = format!(
        "job {}  {state:<10}  {}  {}",
        job.id,
        job.name,
        jobs::outcome(job)
    );
    Seen {
        line: text::fit(line.trim_end(), usize::MAX),
        ended: text::ended(state),
        completed: state == "COMPLETED",
    }
}
