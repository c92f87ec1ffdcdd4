//! `crystalmath jobs`: the list.

use std::fmt::Write as _;

use super::output::Outcome;
use super::session::Session;
use super::table::{self, Cell, Column, cell};
use super::text;
use crate::rpc::types::{JobState, JobSummary, ListParams, SortKey, calls};

/// Arguments of `jobs`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Only jobs in these states
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    pub state: Vec<String>,
    /// Only jobs of this code
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
    /// Only jobs with this text in name, formula or tags
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub limit: Option<i64>,
    /// Order: id, name, state, `created_at` or `finished_at`; with a leading - the other way round
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub sort: Option<String>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let states = args
        .state
        .iter()
        .map(|state| JobState::from(state.to_uppercase()));
    let answer = session.call::<calls::JobsList>(&ListParams {
        state: (!args.state.is_empty()).then(|| states.collect()),
        code: args.code.clone(),
        search: args.search.clone(),
        limit: args.limit,
        sort: args.sort.as_deref().map(SortKey::from),
        ..ListParams::default()
    })?;
    session.print(&answer.raw, || {
        render(&answer.read.data, answer.read.meta.total, session.colour())
    })?;
    Ok(0)
}

/// The list as a table, and how many more there are.
pub(super) fn render(jobs: &[JobSummary], total: Option<i64>, colour: bool) -> String {
    if jobs.is_empty() {
        return "no jobs".into();
    }
    let columns = [
        Column::right("ID", 7),
        Column::left("NAME", 0),
        Column::left("CODE", 16),
        Column::left("STATE", 10),
        Column::right("TIME", 8),
        Column::left("RESULT", 20),
    ];
    let rows: Vec<Vec<Cell>> = jobs.iter().map(row).collect();
    let mut rendered = table::render(&columns, &rows, colour);
    let more = total.map_or(0, |total| {
        total - i64::try_from(jobs.len()).unwrap_or(total)
    });
    if more > 0 {
        let _ = write!(rendered, "\n… and {more} more");
    }
    rendered
}

fn row(job: &JobSummary) -> Vec<Cell> {
    let code = match &job.task {
        Some(task) => format!("{} {task}", job.code),
        None => job.code.clone(),
    };
    vec![
        cell(job.id.to_string()),
        cell(&*job.name),
        cell(code),
        (
            job.state.to_string(),
            text::state_colour(job.state.as_str()),
        ),
        cell(job.elapsed_s.map_or("-".into(), text::duration)),
        cell(outcome(job)),
    ]
}

/// The one thing to know about the job: how it ended, or how far it is.
pub(super) fn outcome(job: &JobSummary) -> String {
    match (
        &job.attention,
        job.state.as_str(),
        &job.reason,
        job.science.energy_ev,
    ) {
        (Some(attention), ..) => attention.clone(),
        (None, "FAILED", Some(reason), _) => reason.clone(),
        (None, "COMPLETED", _, Some(energy)) => format!("{energy:.6} eV"),
        (None, "COMPLETED" | "CANCELLED", ..) => String::new(),
        _ => job.progress.text.clone(),
    }
}
