//! `crystalmath engines doctor`: checks of an engine against itself.

use super::ModelArgs;
use super::evaluate::origin;
use crate::cli::output::Outcome;
use crate::cli::params::Given;
use crate::cli::session::Session;
use crate::cli::table::{Column, cell, render};
use crate::cli::text;
use crate::rpc::fit;
use crate::rpc::types::{EngineCheck, EngineDoctorResult, PropertyName, Reply};

/// Arguments of `engines doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which engine
    #[arg(value_name = "ENGINE")]
    pub engine: String,
    /// Which model, and where it runs.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Forget what was found before, and keep what is found now
    #[arg(long)]
    pub renew: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut given = Given::default();
    given.text("engine", Some(&args.engine));
    args.model.fill(&mut given)?;
    given.put("renew", args.renew.then_some(true.into()));
    let raw = session.ask("forces.doctor", given.object())?;
    let reply: Reply<EngineDoctorResult> = fit("forces.doctor", &raw)?;
    let found = &reply.data;
    session.print(&raw, || {
        let columns = [
            Column::left("", 7),
            Column::left("CHECK", 26),
            Column::left("ON", 10),
            Column::right("FOUND", 10),
            Column::right("ALLOWED", 10),
            Column::left("", 0),
        ];
        let rows: Vec<_> = found.checks.iter().map(row).collect();
        let mut lines = vec![render(&columns, &rows, session.colour())];
        for check in found
            .checks
            .iter()
            .filter(|c| c.verdict.as_str() != "passed")
        {
            let on = check.structure.as_deref().unwrap_or("the engine");
            let line = format!("{} on {on}: {}", check.name, check.detail);
            lines.push(text::wrap(&line, text::WIDTH, "  "));
        }
        lines.extend(found.identity.as_ref().map(origin));
        let usable: Vec<&str> = found.usable.iter().map(PropertyName::as_str).collect();
        lines.push(format!("usable: {}", usable.join(" ")));
        let mut withheld: Vec<_> = found.withheld.iter().collect();
        withheld.sort();
        lines.extend(withheld.iter().map(|(name, why)| {
            let what = match name.as_str() {
                "partial_stress" => "the stress of slabs and wires",
                name => name,
            };
            let line = format!("{what} is switched off from now on: {why}");
            text::wrap(&line, text::WIDTH, "  ")
        }));
        lines.join("\n")
    })?;
    Ok(u8::from(!found.ok))
}

fn row(check: &EngineCheck) -> Vec<crate::cli::table::Cell> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |v| format!("{v:.2e}"));
    let colour = match check.verdict.as_str() {
        "passed" => "\x1b[32m",
        "failed" => "\x1b[31m",
        _ => "",
    };
    vec![
        (check.verdict.to_string(), colour),
        cell(check.name.clone()),
        cell(check.structure.clone().unwrap_or_else(|| "-".into())),
        cell(number(check.value)),
        cell(number(check.tolerance)),
        cell(check.unit.clone()),
    ]
}
