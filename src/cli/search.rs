//! `crystalmath search`: structures, here and in databases, with how each provider answered.

use super::output::{Failure, Outcome};
use super::params::finite;
use super::results::field;
use super::session::Session;
use super::table::{self, Cell, Column, cell};
use super::text;
use super::wording::{Commands, speak_of};
use crate::rpc::types::{
    MaterialFound, NoParams, ProviderAnswer, ProviderRow, ProviderStatus, SearchMeta, SearchParams,
    calls,
};

/// Arguments of `search`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A formula (`TiO2`), a chemical system (Ti-O), an id (mp-2657) or a name (rutile)
    #[arg(value_name = "QUERY")]
    pub query: Option<String>,
    /// Ask only this provider; repeat for more. All databases: optimade
    #[arg(long, value_name = "NAME")]
    pub provider: Vec<String>,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub limit: Option<i64>,
    /// Seconds that each provider on the network may take: 10
    #[arg(long, value_name = "S", value_parser = finite)]
    pub timeout: Option<f64>,
    /// Ask the network also for what it answered less than a day ago
    #[arg(long)]
    pub refresh: bool,
    /// Exactly this formula
    #[arg(long, value_name = "FORMULA")]
    pub formula: Option<String>,
    /// Exactly these elements, like Ti-O
    #[arg(long, value_name = "SYSTEM")]
    pub chemsys: Option<String>,
    /// All of these elements and perhaps others: Ti,O
    #[arg(long, value_name = "ELEMENTS", value_delimiter = ',')]
    pub elements: Vec<String>,
    /// At least one of these elements
    #[arg(long, value_name = "ELEMENTS", value_delimiter = ',')]
    pub any_of: Vec<String>,
    /// None of these elements
    #[arg(long, value_name = "ELEMENTS", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Number of the space group, 1 to 230
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=230))]
    pub spacegroup: Option<i64>,
    /// AFLOW label, Strukturbericht or Pearson symbol, or name of a structure type: B1
    #[arg(long, value_name = "TYPE")]
    pub prototype: Option<String>,
    /// Part of the name of a mineral, structure type, file or job
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Atoms of the cell at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub max_atoms: Option<i64>,
    /// List who can be asked
    #[arg(long, exclusive = true)]
    pub providers: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let outcome = if args.providers {
        providers(session)
    } else {
        search(session, args)
    };
    outcome.map_err(|failure| failure.of(Commands::Structures))
}

fn search(session: &Session, args: &Args) -> Outcome {
    if !args.asks() {
        return Err(Failure::usage(
            "nothing is looked for",
            "give a formula like TiO2, a name like rutile, or --elements Ti,O",
        ));
    }
    let answer = session.call::<calls::MaterialsSearch>(&args.params())?;
    let (found, meta) = (&answer.read.data, &answer.read.meta);
    session.print(&answer.raw, || render(found, meta, session.colour()))?;
    let answered = |one: &ProviderAnswer| one.status == ProviderStatus::Ok;
    // What was kept from an earlier day is an answer too.
    Ok(u8::from(
        found.is_empty() && !meta.providers.iter().any(answered),
    ))
}

impl Args {
    fn asks(&self) -> bool {
        let texts = [
            &self.query,
            &self.formula,
            &self.chemsys,
            &self.prototype,
            &self.name,
        ];
        texts.iter().any(|text| text.is_some())
            || [&self.elements, &self.any_of, &self.without]
                .iter()
                .any(|list| !list.is_empty())
            || self.spacegroup.is_some()
            || self.max_atoms.is_some()
    }

    fn params(&self) -> SearchParams {
        let list = |given: &Vec<String>| (!given.is_empty()).then(|| given.clone());
        SearchParams {
            query: self.query.clone(),
            formula: self.formula.clone(),
            chemsys: self.chemsys.clone(),
            elements_all: list(&self.elements),
            elements_any: list(&self.any_of),
            elements_none: list(&self.without),
            spacegroup: self.spacegroup,
            prototype: self.prototype.clone(),
            text: self.name.clone(),
            n_atoms_max: self.max_atoms,
            providers: list(&self.provider),
            limit: self.limit,
            timeout_s: self.timeout,
            refresh: self.refresh.then_some(true),
        }
    }
}

fn render(found: &[MaterialFound], meta: &SearchMeta, colour: bool) -> String {
    let mut lines: Vec<String> = meta
        .query
        .notices
        .iter()
        .map(|notice| field("read", notice))
        .collect();
    lines.push(if found.is_empty() {
        "nothing was found".to_owned()
    } else {
        let columns = [
            Column::left("FORMULA", 14),
            Column::left("GROUP", 14),
            Column::right("ATOMS", 6),
            Column::left("NAME", 20),
            // Last and never cut: it is there to be copied.
            Column::left("STRUCTURE", 1000),
        ];
        let rows: Vec<Vec<Cell>> = found.iter().map(row).collect();
        table::render(&columns, &rows, colour)
    });
    lines.push(String::new());
    lines.extend(meta.providers.iter().map(answered));
    lines.extend(meta.notices.iter().map(|notice| field("note", notice)));
    lines.extend(found.iter().filter_map(refused));
    if found.iter().any(|one| one.prototype) {
        lines.push(field(
            "note",
            "a * marks the example of a structure type: its lattice constants are those of one \
             compound at some temperature; optimise the cell",
        ));
    }
    lines.join("\n")
}

fn row(one: &MaterialFound) -> Vec<Cell> {
    let group = one
        .space_group
        .as_ref()
        .map_or_else(|| "-".to_owned(), |g| format!("{} {}", g.number, g.symbol));
    let mark = if one.prototype { "*" } else { "" };
    let name = one.name.clone().unwrap_or_default();
    let tint = if one.generatable { "" } else { "\x1b[33m" };
    let also = match one.ids.len() {
        0 | 1 => String::new(),
        many => format!("  (+ {})", many - 1),
    };
    vec![
        cell(&*one.formula),
        cell(group),
        cell(one.n_atoms.to_string()),
        cell(format!("{mark}{name}")),
        (format!("{}{also}", one.material), tint),
    ]
}

fn refused(one: &MaterialFound) -> Option<String> {
    let reason = one.reason.as_ref().filter(|_| !one.generatable)?;
    Some(field("no deck", &format!("{}: {reason}", one.material)))
}

fn answered(one: &ProviderAnswer) -> String {
    let mut said = vec![one.status.to_string()];
    said.push(format!("{} found", one.n_found));
    if one.more {
        said.push("there are more".to_owned());
    }
    if let Some(at) = &one.cached_at {
        said.push(format!("kept from {}", text::time(at)));
    }
    said.push(format!("{:.0} ms", one.elapsed_ms));
    let mut told = said.join(", ");
    for reason in [&one.error, &one.hint].into_iter().flatten() {
        told = format!("{told}; {}", speak_of(Commands::Structures, reason, None));
    }
    // The longest of ours is longer than a label.
    format!(
        "{:<17} {}",
        one.name,
        text::wrap(&told, text::WIDTH - 18, &" ".repeat(18))
    )
}

fn providers(session: &Session) -> Outcome {
    let answer = session.call::<calls::MaterialsProviders>(&NoParams::default())?;
    let rows = &answer.read.data;
    session.print(&answer.raw, || {
        rows.iter().map(provider).collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}

fn provider(one: &ProviderRow) -> String {
    let mut told = one.title.clone();
    for reason in [&one.reason, &one.hint].into_iter().flatten() {
        told = format!("{told}; {}", speak_of(Commands::Structures, reason, None));
    }
    format!(
        "{:<17} {}",
        one.name,
        text::wrap(&told, text::WIDTH - 18, &" ".repeat(18))
    )
}
