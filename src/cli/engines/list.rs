//! What there is: engines, models, environments.

use super::size;
use crate::cli::output::Outcome;
use crate::cli::session::Session;
use crate::cli::table::{Column, cell, render};
use crate::cli::text;
use crate::cli::wording;
use crate::rpc::types::{EngineInfo, ModelsParams, NoParams, PropertyName, calls};

/// Arguments of `engines models`.
#[derive(Debug, clap::Args)]
pub struct ModelsArgs {
    /// Which engine
    #[arg(value_name = "ENGINE")]
    pub engine: String,
}

pub(super) fn run(session: &Session) -> Outcome {
    let answer = session.call::<calls::ForcesEngines>(&NoParams {})?;
    session.print(&answer.raw, || {
        let columns = [
            Column::left("ENGINE", 14),
            Column::left("STATE", 22),
            Column::left("MODEL", 16),
            Column::left("GIVES", 0),
        ];
        let rows: Vec<_> = answer.read.data.iter().map(row).collect();
        let mut lines = vec![render(&columns, &rows, session.colour())];
        for engine in &answer.read.data {
            if let Some(problem) = engine.problem.as_ref().filter(|_| !engine.installed) {
                let hint = engine.hint.as_deref().map(|h| wording::speak(h, None));
                lines.push(format!(
                    "\n{}: {}{}",
                    engine.name,
                    text::wrap(&wording::speak(problem, None), text::WIDTH, "  "),
                    hint.map(|hint| format!("\n  {}", text::wrap(&hint, text::WIDTH, "  ")))
                        .unwrap_or_default()
                ));
            }
        }
        lines.join("\n")
    })?;
    Ok(0)
}

fn row(engine: &EngineInfo) -> Vec<crate::cli::table::Cell> {
    let name = if engine.default {
        format!("{} *", engine.name)
    } else {
        engine.name.clone()
    };
    let (state, colour) = state(engine);
    let model = engine.models.first().map(|model| model.id.clone());
    let properties: Vec<&str> = engine.properties.iter().map(PropertyName::as_str).collect();
    vec![
        cell(name),
        (state, colour),
        cell(model.unwrap_or_else(|| "-".into())),
        cell(properties.join(" ")),
    ]
}

fn state(engine: &EngineInfo) -> (String, &'static str) {
    if let Some(task) = &engine.install {
        let working = matches!(task.state.as_str(), "waiting" | "running");
        if working {
            return (format!("installing: {}", task.phase), "\x1b[36m");
        }
    }
    match (engine.built_in, engine.installed, engine.workers) {
        (_, true, 1..) => (format!("loaded ({})", engine.workers), "\x1b[32m"),
        (true, ..) => ("built in".into(), "\x1b[32m"),
        (_, true, _) => ("installed".into(), "\x1b[32m"),
        _ => (format!("absent, {}", size(engine.download_bytes)), ""),
    }
}

pub(super) fn models(session: &Session, args: &ModelsArgs) -> Outcome {
    let params = ModelsParams {
        engine: args.engine.clone(),
    };
    let answer = session.call::<calls::ForcesModels>(&params)?;
    session.print(&answer.raw, || {
        let columns = [
            Column::left("MODEL", 24),
            Column::left("SOURCE", 9),
            Column::left("HERE", 5),
            Column::left("TYPE", 8),
            Column::left("LICENCE", 14),
            Column::left("GIVES", 0),
        ];
        let rows: Vec<_> = answer
            .read
            .data
            .iter()
            .map(|model| {
                let name = if model.default {
                    format!("{} *", model.id)
                } else {
                    model.id.clone()
                };
                let properties: Vec<&str> =
                    model.properties.iter().map(PropertyName::as_str).collect();
                let licence = match model.consent.as_str() {
                    "needed" => "to be accepted".to_owned(),
                    _ => model.license.clone().unwrap_or_else(|| "-".into()),
                };
                vec![
                    cell(name),
                    cell(model.source.as_str()),
                    cell(if model.present { "yes" } else { "no" }),
                    cell(model.dtype.clone().unwrap_or_else(|| "-".into())),
                    cell(licence),
                    cell(properties.join(" ")),
                ]
            })
            .collect();
        render(&columns, &rows, session.colour())
    })?;
    Ok(0)
}

pub(super) fn environments(session: &Session) -> Outcome {
    let answer = session.call::<calls::ForcesEnvironments>(&NoParams {})?;
    session.print(&answer.raw, || {
        let columns = [
            Column::left("ENVIRONMENT", 16),
            Column::left("STATE", 8),
            Column::left("ENGINES", 24),
            Column::right("OWN", 10),
            Column::right("WITH SHARED", 11),
            Column::left("PYTHON", 8),
        ];
        let rows: Vec<_> = answer
            .read
            .data
            .iter()
            .map(|one| {
                vec![
                    cell(one.id.clone()),
                    cell(one.state.as_str()),
                    cell(one.engines.join(" ")),
                    cell(size(Some(one.size_bytes))),
                    cell(size(Some(one.apparent_bytes))),
                    cell(one.python.clone().unwrap_or_else(|| "-".into())),
                ]
            })
            .collect();
        if rows.is_empty() {
            "no environment is built".to_owned()
        } else {
            render(&columns, &rows, session.colour())
        }
    })?;
    Ok(0)
}
