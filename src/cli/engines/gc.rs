//! `crystalmath engines gc`: what nothing needs any more.

use serde_json::{Value, json};

use super::size;
use crate::cli::output::Outcome;
use crate::cli::params::finite;
use crate::cli::session::Session;
use crate::rpc::fit;
use crate::rpc::types::{CollectMeta, Garbage, Page};

/// Arguments of `engines gc`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep what was used within so many days
    #[arg(long, value_name = "DAYS", value_parser = finite)]
    pub keep_days: Option<f64>,
    /// Remove it
    #[arg(long, short = 'y')]
    pub yes: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut params = json!({"apply": args.yes});
    if let Some(days) = args.keep_days {
        params["keep_days"] = Value::from(days);
    }
    let raw = session.ask("forces.gc", params)?;
    let page: Page<Garbage, CollectMeta> = fit("forces.gc", &raw)?;
    session.print(&raw, || {
        if page.data.is_empty() {
            return "everything is needed".to_owned();
        }
        let mut lines: Vec<String> = page
            .data
            .iter()
            .map(|one| {
                let done = if one.removed { "removed" } else { "would go" };
                format!(
                    "{done}  {} {}  {}  {}",
                    one.kind,
                    one.name,
                    size(Some(one.size_bytes)),
                    one.reason
                )
            })
            .collect();
        let total = size(Some(page.meta.size_bytes));
        lines.push(if page.meta.applied {
            format!("{total} freed")
        } else {
            format!("{total} in all; --yes removes it")
        });
        lines.join("\n")
    })?;
    Ok(0)
}
