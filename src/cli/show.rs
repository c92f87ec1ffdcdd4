//! `crystalmath show`: everything about one job.

use super::output::Outcome;
use super::results::tables::{self, Extent};
use super::results::{self, field};
use super::session::Session;
use super::text;
use super::wording;
use crate::rpc::types::{Job, JobEvent, JobIdParams, calls};
use crate::tasks;

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the job
    pub id: i64,
    /// Only the tables of its results, with all rows and columns
    #[arg(long)]
    pub tables: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::JobsGet>(&JobIdParams { id: args.id })?;
    let job = &answer.read.data;
    session.print(&answer.raw, || {
        if args.tables {
            all_tables(job, session.colour())
        } else {
            render(job, session.colour())
        }
    })?;
    Ok(0)
}

/// Nothing but the tables.
fn all_tables(job: &Job, colour: bool) -> String {
    let lines = tables::lines(&job.results, Extent::Whole, colour);
    if lines.is_empty() {
        return format!("job {} has no tables, or none yet", job.id);
    }
    lines.join("\n")
}

fn render(job: &Job, colour: bool) -> String {
    let mut lines = vec![results::render(job, colour)];
    let what = [Some(job.code.as_str()), job.task.as_deref()];
    lines.push(field(
        "code",
        &what.into_iter().flatten().collect::<Vec<_>>().join(" "),
    ));
    if !text::ended(job.state.as_str()) {
        lines.push(field("progress", &job.progress.text));
    }
    lines.extend(
        job.attention
            .as_deref()
            .map(|attention| field("attention", attention)),
    );
    if let Some(scheduler) = &job.scheduler {
        let words = [&scheduler.id, &scheduler.state, &scheduler.reason];
        let said: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
        lines.push(field("scheduler", &said.join(" ")));
    }
    lines.extend(tasks::counted(&job.tasks).map(|said| field("tasks", &said)));
    for (label, said) in tasks::notable(&job.tasks) {
        lines.push(field(&label, &wording::speak(&said, Some(job.id))));
    }
    let used = job.usage.as_ref().and_then(tasks::used);
    lines.extend(used.map(|said| field("used", &said)));
    lines.push(field(
        "runs on",
        job.cluster.as_deref().unwrap_or(&job.runner),
    ));
    if !job.provenance.argv.is_empty() {
        lines.push(field("program", &job.provenance.argv.join(" ")));
    }
    if !job.tags.is_empty() {
        lines.push(field("tags", &job.tags.join(", ")));
    }
    if !job.after.is_empty() {
        let parents: Vec<String> = job.after.iter().map(ToString::to_string).collect();
        lines.push(field("after", &parents.join(", ")));
    }
    lines.extend(
        job.rerun_of
            .map(|first| field("repeats", &format!("job {first}"))),
    );
    let shown = job
        .files
        .iter()
        .filter(|file| file.kind.as_str() != "internal");
    let names: Vec<&str> = shown.map(|file| file.path.as_str()).collect();
    if !names.is_empty() {
        lines.push(field("files", &names.join(" ")));
    }
    lines.extend(tables::lines(
        &job.results,
        Extent::Short { job: job.id },
        colour,
    ));
    lines.push(String::new());
    lines.extend(job.events.iter().map(event));
    lines.join("\n")
}

fn event(event: &JobEvent) -> String {
    let at = text::time(&event.at);
    let to = event.to_state.as_ref().map_or("", |state| state.as_str());
    let moved = event.from_state != event.to_state;
    let state = text::pad(if moved { to } else { "" }, 10, false);
    let lead = format!("{at}  {state}  ");
    let indent = " ".repeat(lead.len());
    format!(
        "{lead}{}",
        text::wrap(&event.why, text::WIDTH - lead.len(), &indent)
    )
}
