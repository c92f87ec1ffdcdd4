//! `crystalmath lint`: what is wrong with an input of a code, line by line.

use std::path::PathBuf;

use super::output::Outcome;
use super::params;
use super::session::Session;
use super::wording::speak;
use crate::rpc::types::{LintFinding, LintFindingSeverity, LintParams, calls};

/// Arguments of `lint`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// The input, like mgo.d12
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Whose input it is; told by the ending of the file when left out
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let path = params::absolute_path(&args.path)?;
    let asked = LintParams {
        path: Some(path),
        code: args.code.clone(),
        ..LintParams::default()
    };
    let answer = session.call::<calls::CodesLint>(&asked)?;
    let found = &answer.read;
    let name = args.path.display().to_string();
    session.print(&answer.raw, || {
        let mut lines: Vec<String> = found.data.iter().map(|row| render(&name, row)).collect();
        lines.push(match (found.meta.errors, found.meta.warnings) {
            (0, 0) => format!("{name}: nothing to say"),
            (errors, warnings) => format!("{name}: {errors} errors, {warnings} warnings"),
        });
        lines.join("\n")
    })?;
    Ok(u8::from(found.meta.errors > 0))
}

fn render(name: &str, row: &LintFinding) -> String {
    let severity = match row.severity {
        LintFindingSeverity::Warning => "warning",
        _ => "error",
    };
    let hint = if row.hint.is_empty() {
        String::new()
    } else {
        format!("; {}", row.hint)
    };
    let said = speak(&format!("{}{hint}", row.message), None);
    format!(
        "{name}:{}:{}: {severity}: {said} [{}]",
        row.line, row.column, row.code
    )
}
