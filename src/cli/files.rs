//! `crystalmath files`: what is in a job's directory.

use super::output::Outcome;
use super::session::Session;
use super::table::{self, Cell, Column, cell};
use super::text;

use crate::rpc::types::{FileEntry, FilesMeta, JobIdParams, calls};
use crate::widgets::text::bytes;

/// Arguments of `files`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the job
    pub id: i64,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::JobsFiles>(&JobIdParams { id: args.id })?;
    let page = &answer.read;
    session.print(&answer.raw, || {
        render(&page.data, &page.meta, session.colour())
    })?;
    Ok(0)
}

fn render(files: &[FileEntry], meta: &FilesMeta, colour: bool) -> String {
    let columns = [
        Column::left("FILE", 0),
        Column::left("KIND", 8),
        Column::right("SIZE", 10),
        Column::left("CHANGED", 20),
    ];
    let rows: Vec<Vec<Cell>> = files
        .iter()
        .map(|file| {
            vec![
                cell(&*file.path),
                cell(file.kind.as_str()),
                cell(bytes(u64::try_from(file.size).unwrap_or(0))),
                cell(text::time(&file.modified_at)),
            ]
        })
        .collect();
    let listing = if files.is_empty() {
        "no files".to_owned()
    } else {
        table::render(&columns, &rows, colour)
    };
    let more = if meta.truncated { "\n… and more" } else { "" };
    format!("{}\n{listing}{more}", meta.directory)
}
