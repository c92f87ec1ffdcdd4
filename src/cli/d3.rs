//! `crystalmath d3`: write a deck of properties for the deck of a wave function.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::output::{Failure, Outcome};
use super::params::{self, Given, finite};
use super::session::Session;
use super::wording::Commands;
use super::writing::write;
use crate::rpc::fit;
use crate::rpc::types::{D3Report, D3Result, Reply};

const METHOD: &str = "materials.generate_d3";

/// Arguments of `d3`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// The deck of the wave function, like mgo.d12
    #[arg(value_name = "DECK")]
    pub deck: PathBuf,
    /// Write the deck there instead of to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
    /// What is calculated.
    #[command(flatten)]
    pub what: What,
}

/// What is asked for; what is left out has the daemon's defaults.
#[derive(Debug, Default, clap::Args)]
pub struct What {
    /// Bands, along the path of the lattice or through these points: G-X-W-K,U-X
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub band: Option<String>,
    /// Density of states
    #[arg(long)]
    pub dos: bool,
    /// First and last band: 1,14
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    pub bands: Vec<i64>,
    /// Energies of the density of states in hartree: -0.5,0.3
    #[arg(
        long,
        value_name = "E,E",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = finite
    )]
    pub energies: Vec<f64>,
    /// Part of the density of states: atoms=1,2 or orbitals=1,2,3; repeat for more
    #[arg(long, value_name = "WHAT=N,N", value_parser = part)]
    pub project: Vec<Value>,
    /// Mesh of NEWK: IS,ISP or IS1,IS2,IS3; twice that of the wave function
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    pub shrink: Vec<i64>,
    /// Records of your own, a keyword and what belongs to it; repeat for more
    #[arg(long, value_name = "TEXT")]
    pub extra: Vec<String>,
    /// Any option as JSON: band={"iss":4,"segments":[[0,0,0,2,0,2]]}; repeat for more
    #[arg(long, value_name = "KEY=JSON", value_parser = params::key_value)]
    pub option: Vec<(String, Value)>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    generate(session, args).map_err(|failure| failure.of(Commands::Properties))
}

fn generate(session: &Session, args: &Args) -> Outcome {
    let mut given = Given::default();
    given.put(
        "deck",
        Some(json!({"path": params::absolute_path(&args.deck)?})),
    );
    given.put("options", Some(args.what.options()?.object()));
    let raw = session.ask(METHOD, given.object())?;
    let reply: Reply<D3Result> = fit(METHOD, &raw)?;
    let made = reply.data;
    match &args.output {
        None => session.print(&raw, || made.d3.trim_end().to_owned())?,
        Some(path) => {
            write(path, &made.d3, args.force)?;
            session.print(&raw, || {
                format!("{}: {}", path.display(), summary(&made.report))
            })?;
        }
    }
    session.warn(Commands::Properties, &made.report.warnings);
    Ok(0)
}

fn summary(report: &D3Report) -> String {
    let path = report
        .path
        .as_ref()
        .map_or_else(String::new, |path| format!(", path {path}"));
    format!("{}{path}", report.properties.join(", "))
}

fn part(text: &str) -> Result<Value, String> {
    let wrong = || "write it as atoms=1,2 or orbitals=1,2".to_owned();
    let (what, numbers) = text.split_once('=').ok_or_else(wrong)?;
    if !matches!(what, "atoms" | "orbitals") {
        return Err(wrong());
    }
    let numbers: Vec<i64> = numbers
        .split(',')
        .map(|number| number.trim().parse().map_err(|_| wrong()))
        .collect::<Result<_, _>>()?;
    Ok(json!({what: numbers}))
}

impl What {
    fn options(&self) -> Result<Given, Failure> {
        let mut given = Given::default();
        if let Some(path) = &self.band {
            let mut band = Given::default();
            band.put("path", (!path.is_empty()).then(|| json!(path)));
            band.list("bands", &self.bands);
            given.put("band", Some(band.object()));
        }
        if self.dos || !self.energies.is_empty() || !self.project.is_empty() {
            let mut dos = Given::default();
            if self.energies.is_empty() {
                dos.list("bands", &self.bands);
            }
            dos.list("energies_hartree", &self.energies);
            dos.list("projections", &self.project);
            given.put("dos", Some(dos.object()));
        } else if self.band.is_none() && !self.bands.is_empty() {
            return Err(Failure::usage(
                "--bands stands alone",
                "give --band or --dos, or both",
            ));
        }
        given.list("shrink", &self.shrink);
        given.list("extra", &self.extra);
        for (key, value) in &self.option {
            given.put(key, Some(value.clone()));
        }
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{What, part};

    #[test]
    fn flags_become_options_and_what_is_left_out_is_not_sent() {
        let what = What {
            band: Some(String::new()),
            dos: true,
            bands: vec![1, 14],
            project: vec![part("atoms=1,2").unwrap_or_default()],
            ..What::default()
        };
        assert_eq!(
            what.options().map(super::Given::object).ok(),
            Some(json!({
                "band": {"bands": [1, 14]},
                "dos": {"bands": [1, 14], "projections": [{"atoms": [1, 2]}]},
            }))
        );
        let lower = What {
            band: Some("GX".into()),
            energies: vec![-0.5, 0.3],
            ..What::default()
        };
        assert_eq!(
            lower.options().map(super::Given::object).ok(),
            Some(json!({"band": {"path": "GX"}, "dos": {"energies_hartree": [-0.5, 0.3]}}))
        );
    }

    #[test]
    fn a_part_is_atoms_or_orbitals() {
        assert_eq!(part("orbitals=3"), Ok(json!({"orbitals": [3]})));
        assert!(part("atoms").is_err());
        assert!(part("shells=1").is_err());
        assert!(part("atoms=a").is_err());
    }

    #[test]
    fn bands_belong_to_something() {
        let alone = What {
            bands: vec![1, 2],
            ..What::default()
        };
        assert!(alone.options().is_err());
    }
}
