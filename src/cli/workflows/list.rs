//! `crystalmath workflows list`: a row for each workflow.

use crate::cli::output::Outcome;
use crate::cli::session::Session;
use crate::cli::table::{Cell, Column, cell, render};
use crate::cli::text;
use crate::rpc::types::{ListWorkflowsParams, WorkflowState, WorkflowSummary, calls};

/// Arguments of `workflows list`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Only those in this state: RUNNING, WAITING, COMPLETED, FAILED, CANCELLED; repeat for more
    #[arg(long, value_name = "STATE")]
    pub state: Vec<String>,
    /// Only this kind, like eos
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub limit: Option<i64>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let states = args.state.iter().map(|state| state.to_uppercase());
    let states: Vec<WorkflowState> = states.map(|state| WorkflowState::from(&*state)).collect();
    let answer = session.call::<calls::WorkflowsList>(&ListWorkflowsParams {
        state: (!states.is_empty()).then_some(states),
        kind: args.kind.clone(),
        limit: args.limit,
        after: None,
    })?;
    let page = &answer.read;
    session.print(&answer.raw, || {
        if page.data.is_empty() {
            return "no workflows".into();
        }
        let columns = [
            Column::right("ID", 8),
            Column::left("KIND", 12),
            Column::left("STATE", 10),
            Column::right("STEPS", 9),
            Column::left("FORMULA", 14),
            Column::left("ENGINE", 12),
            Column::left("NAME", 0),
        ];
        let rows: Vec<_> = page.data.iter().map(row).collect();
        let told = render(&columns, &rows, session.colour());
        let rest = page.meta.total - i64::try_from(page.data.len()).unwrap_or_default();
        if rest > 0 {
            return format!("{told}\n{rest} more");
        }
        told
    })?;
    Ok(0)
}

fn row(workflow: &WorkflowSummary) -> Vec<Cell> {
    let steps = &workflow.steps;
    let state = if workflow.cancelling {
        "cancelling"
    } else {
        workflow.state.as_str()
    };
    vec![
        cell(workflow.id.to_string()),
        cell(&workflow.kind),
        (
            state.to_owned(),
            text::state_colour(workflow.state.as_str()),
        ),
        cell(format!("{}/{}", steps.completed, steps.total)),
        cell(workflow.formula.as_deref().unwrap_or("-")),
        cell(workflow.engine.as_deref().unwrap_or(&workflow.code)),
        cell(&workflow.name),
    ]
}
