//! The processes that have models loaded.

use serde_json::{Value, json};

use crate::cli::output::Outcome;
use crate::cli::results::field;
use crate::cli::session::Session;
use crate::cli::table::{Column, cell, render};
use crate::cli::text;
use crate::rpc::types::{ForcesStatusResult, NoParams, WorkerInfo, WorkersParams, calls};

/// Arguments of `engines stop`.
#[derive(Debug, clap::Args)]
pub struct StopArgs {
    /// Name of the worker, or of the installation
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Do not finish what it has been asked for
    #[arg(long)]
    pub now: bool,
}

pub(super) fn run(session: &Session) -> Outcome {
    let answer = session.call::<calls::ForcesWorkers>(&WorkersParams::default())?;
    session.print(&answer.raw, || {
        let columns = [
            Column::left("WORKER", 12),
            Column::left("ENGINE", 10),
            Column::left("MODEL", 14),
            Column::left("STATE", 9),
            Column::right("CLIENTS", 7),
            Column::right("ANSWERED", 9),
            Column::right("PER S", 8),
            Column::right("MIB", 7),
        ];
        let rows: Vec<_> = answer.read.data.iter().map(row).collect();
        if rows.is_empty() {
            return "no worker runs; the first use of an engine starts one".to_owned();
        }
        let mut lines = vec![render(&columns, &rows, session.colour())];
        for worker in &answer.read.data {
            if let Some(crash) = &worker.last_error {
                lines.push(format!(
                    "{}: {}",
                    worker.id,
                    text::wrap(&crash.message, text::WIDTH - 2, "  ")
                ));
            }
        }
        lines.join("\n")
    })?;
    Ok(0)
}

fn row(worker: &WorkerInfo) -> Vec<crate::cli::table::Cell> {
    vec![
        cell(worker.id.clone()),
        cell(worker.engine.clone()),
        cell(worker.model.clone()),
        cell(worker.state.as_str()),
        cell(worker.clients.to_string()),
        cell(worker.structures.to_string()),
        cell(format!("{:.1}", worker.rate_per_s)),
        cell(
            worker
                .rss_mib
                .map_or_else(|| "-".into(), |mib| format!("{mib:.0}")),
        ),
    ]
}

pub(super) fn status(session: &Session) -> Outcome {
    let answer = session.call::<calls::ForcesStatus>(&NoParams {})?;
    session.print(&answer.raw, || describe(&answer.read.data))?;
    Ok(0)
}

fn describe(status: &ForcesStatusResult) -> String {
    let workers: Vec<String> = status
        .workers
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    let mut lines = vec![
        field("default", &status.default_engine),
        field(
            "workers",
            &if workers.is_empty() {
                "none".to_owned()
            } else {
                workers.join(", ")
            },
        ),
        field("clients", &status.clients.to_string()),
        field(
            "memory",
            &format!("{:.0} of {} MiB", status.rss_mib, status.limits.memory_mib),
        ),
        field(
            "answered",
            &format!(
                "{} requests, {} structures",
                status.requests, status.structures
            ),
        ),
        field("crashes", &status.crashes.to_string()),
        field(
            "idle",
            &format!("stopped after {}", text::duration(status.limits.idle_s)),
        ),
    ];
    for broken in &status.broken {
        lines.push(field(
            "not started",
            &format!(
                "{} {}: crashed too often; again in {}: {}",
                broken.engine,
                broken.model,
                text::duration(broken.retry_in_s),
                broken.last_error
            ),
        ));
    }
    for task in &status.installs {
        lines.push(field(
            "installs",
            &format!("{}: {}", task.engine, task.text),
        ));
    }
    lines.join("\n")
}

/// What becomes of a worker or an installation that was told to stop.
fn ending(name: &str, state: &str, now: bool) -> String {
    match state {
        "crashed" | "stopped" | "failed" | "cancelled" | "done" => {
            format!("{name} has ended: {state}")
        }
        _ if now => format!("{name} is being ended"),
        _ => format!("{name} ends when it has finished what it is at"),
    }
}

pub(super) fn stop(session: &Session, args: &StopArgs) -> Outcome {
    // Only the daemon knows whether the name is that of a worker or of an installation.
    let status = session.call::<calls::ForcesStatus>(&NoParams {})?;
    let is_task = status.read.data.installs.iter().any(|t| t.id == args.name);
    let mut params = if is_task {
        json!({"task": args.name})
    } else {
        json!({"worker": args.name})
    };
    if args.now {
        params["mode"] = Value::from("now");
    }
    let raw = session.ask("forces.stop", params)?;
    session.print(&raw, || {
        let state = if is_task {
            &raw["data"]["task"]["state"]
        } else {
            &raw["data"]["worker"]["state"]
        };
        ending(
            &args.name,
            state.as_str().unwrap_or("stopped"),
            args.now || is_task,
        )
    })?;
    Ok(0)
}
