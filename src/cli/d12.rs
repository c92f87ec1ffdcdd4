//! `crystalmath d12`: write a CRYSTAL deck for a structure.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::output::{Failure, Outcome};
use super::params::{self, Given, finite};
use super::session::Session;
use super::wording::Commands;
use super::writing;
use crate::rpc::fit;
use crate::rpc::types::{D12Report, D12Result, Reply};
use crate::submission::material_name;

const METHOD: &str = "materials.generate_d12";

/// Arguments of `d12`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A structure file, or a name that a search gave, like embedded:periclase-MgO or local:3
    #[arg(value_name = "STRUCTURE")]
    pub structure: PathBuf,
    /// Format of the file, where its name does not say it
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Write the deck there instead of to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
    /// What the deck computes, and how.
    #[command(flatten)]
    pub how: How,
}

/// The options of a deck; those that are left out have the daemon's defaults.
#[derive(Debug, Default, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct How {
    /// First record of the deck
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// auto, crystal, slab, polymer, molecule or external
    #[arg(long, value_name = "WORD")]
    pub dimension: Option<String>,
    /// Tolerance of the symmetry search in Å: 0.01
    #[arg(long, value_name = "Å", value_parser = finite)]
    pub symprec: Option<f64>,
    /// HF, UHF, DFT or a composite method like R2SCANSOL3C
    #[arg(long, value_name = "WORD")]
    pub method: Option<String>,
    /// Of DFT: PBE, PBE0, B3LYP …, or a pair like PBE/LYP
    #[arg(long, value_name = "NAME")]
    pub functional: Option<String>,
    /// Of DFT: XLGRID, XXLGRID …
    #[arg(long, value_name = "WORD")]
    pub grid: Option<String>,
    /// none or D3
    #[arg(long, value_name = "WORD")]
    pub dispersion: Option<String>,
    /// A library like POB-TZVP-REV2; or ELEMENT=NAME of `basis_set_exchange`, ELEMENT=@FILE; repeat
    #[arg(long, value_name = "BASIS")]
    pub basis: Vec<String>,
    /// Largest distance of k points in 1/Å
    #[arg(long, value_name = "1/Å", value_parser = finite)]
    pub k_spacing: Option<f64>,
    /// IS,ISP or IS1,IS2,IS3
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    pub shrink: Vec<i64>,
    /// Bands are partly filled
    #[arg(long)]
    pub metal: bool,
    /// Five tolerances of integrals: 7,7,7,7,14
    #[arg(long, value_name = "N,N,N,N,N", value_delimiter = ',')]
    pub tolinteg: Vec<i64>,
    /// Energy converged to 1e-N hartree
    #[arg(long, value_name = "N", value_parser = finite)]
    pub toldee: Option<f64>,
    /// SCF cycles at most
    #[arg(long, value_name = "N")]
    pub maxcycle: Option<i64>,
    /// Mixing, percent
    #[arg(long, value_name = "N")]
    pub fmixing: Option<i64>,
    /// Smearing of a metal in hartree
    #[arg(long, value_name = "HARTREE", value_parser = finite)]
    pub smear: Option<f64>,
    /// closed or open
    #[arg(long, value_name = "WORD")]
    pub spin: Option<String>,
    /// Electrons of spin up minus spin down, which is locked
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub spin_difference: Option<i64>,
    /// Cycles for which it is locked
    #[arg(long, value_name = "N")]
    pub lock_cycles: Option<i64>,
    /// Spin of an atom of the structure, counted from 1: 3=-1; repeat for more
    #[arg(long, value_name = "ATOM=SPIN", value_parser = params::key_value)]
    pub atom_spin: Vec<(String, Value)>,
    /// Charge of the cell
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub charge: Option<i64>,
    /// DIIS, ANDERSON or BROYDEN
    #[arg(long, value_name = "WORD")]
    pub accelerator: Option<String>,
    /// Level shift in 0.1 hartree, and its lock: 6,1
    #[arg(long, value_name = "N,LOCK", value_delimiter = ',')]
    pub levshift: Vec<i64>,
    /// Start from the density of a .f9
    #[arg(long)]
    pub guess: bool,
    /// Optimise: ATOMONLY, FULLOPTG, CELLONLY, ITATOCEL, CVOLOPT or INTREDUN
    #[arg(long, value_name = "TYPE", num_args = 0..=1, require_equals = true, default_missing_value = "ATOMONLY")]
    pub optgeom: Option<String>,
    /// Frequencies
    #[arg(long)]
    pub freqcalc: bool,
    /// Elastic constants
    #[arg(long)]
    pub elastcon: bool,
    /// Equation of state
    #[arg(long)]
    pub eos: bool,
    /// Records of your own, a keyword and its data: $'EXTPRT' ; repeat for more
    #[arg(long, value_name = "TEXT")]
    pub extra: Vec<String>,
    /// Any option: freqcalc.raman=true, or as JSON; repeat for more
    #[arg(long, value_name = "KEY=JSON", value_parser = params::key_value)]
    pub option: Vec<(String, Value)>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    generate(session, args).map_err(|failure| failure.of(Commands::Decks))
}

fn generate(session: &Session, args: &Args) -> Outcome {
    let mut given = Given::default();
    given.put("structure", Some(structure(args)?));
    given.put("options", args.how.options()?.some());
    let raw = session.ask(METHOD, given.object())?;
    let reply: Reply<D12Result> = fit(METHOD, &raw)?;
    let made = reply.data;
    let Some(path) = &args.output else {
        if made.gui.is_some() && !session.json() {
            return Err(Failure::usage(
                "an EXTERNAL deck is two files",
                "give -o FILE; the geometry goes beside it",
            ));
        }
        session.print(&raw, || made.d12.trim_end().to_owned())?;
        session.warn(Commands::Decks, &made.report.warnings);
        return Ok(0);
    };
    let beside = made.gui.as_ref().map(|_| path.with_extension("gui"));
    let both = [Some(path.as_path()), beside.as_deref()];
    writing::check_free(both.into_iter().flatten(), args.force)?;
    writing::write(path, &made.d12, args.force)?;
    if let (Some(gui), Some(beside)) = (&made.gui, &beside) {
        writing::write(beside, gui, args.force)?;
    }
    session.print(&raw, || summary(&made.report, path, beside.as_deref()))?;
    session.warn(Commands::Decks, &made.report.warnings);
    Ok(0)
}

fn structure(args: &Args) -> Result<Value, Failure> {
    let mut given = Given::default();
    match material_name(&args.structure) {
        Some(name) => given.put("material", Some(json!(name))),
        None => given.put("path", Some(json!(params::absolute_path(&args.structure)?))),
    }
    given.text("format", args.format.as_ref());
    Ok(given.object())
}

fn summary(report: &D12Report, path: &Path, beside: Option<&Path>) -> String {
    let group = report
        .space_group
        .as_ref()
        .map_or_else(String::new, |group| {
            let symbol = group.get("symbol").and_then(Value::as_str).unwrap_or("?");
            format!(" {symbol}")
        });
    let also = beside.map_or_else(String::new, |path| format!(" and {}", path.display()));
    format!(
        "{}{also}: {}{group}, {} of {} atoms listed, basis {}, checked by reading it back",
        path.display(),
        report.dimension,
        report.n_asymmetric,
        report.n_atoms,
        report.basis
    )
}

impl How {
    fn options(&self) -> Result<Given, Failure> {
        let mut given = Given::default();
        given.text("title", self.title.as_ref());
        given.text("dimension", self.dimension.as_ref());
        given.put("symprec_angstrom", self.symprec.map(Value::from));
        given.text("method", self.method.as_ref());
        given.text("functional", self.functional.as_ref());
        given.text("grid", self.grid.as_ref());
        given.text("dispersion", self.dispersion.as_ref());
        given.put("basis", basis(&self.basis)?);
        given.put("k_spacing_inv_angstrom", self.k_spacing.map(Value::from));
        given.list("shrink", &self.shrink);
        given.put("metal", self.metal.then_some(Value::Bool(true)));
        given.list("tolinteg", &self.tolinteg);
        given.put("toldee", self.toldee.map(Value::from));
        given.put("maxcycle", self.maxcycle.map(Value::from));
        given.put("fmixing", self.fmixing.map(Value::from));
        given.put("smear_hartree", self.smear.map(Value::from));
        given.put("spin", self.spins());
        given.put("charge", self.charge.map(Value::from));
        given.text("accelerator", self.accelerator.as_ref());
        given.list("levshift", &self.levshift);
        given.put("guess", self.guess.then_some(Value::Bool(true)));
        given.put("optgeom", self.optgeom.as_ref().map(|t| json!({"type": t})));
        given.put("freqcalc", self.freqcalc.then(|| json!({})));
        given.put("elastcon", self.elastcon.then(|| json!({})));
        given.put("eos", self.eos.then(|| json!({})));
        given.list("extra", &self.extra);
        for (key, value) in &self.option {
            given.put_at(key, value.clone())?;
        }
        Ok(given)
    }

    /// The word, or the open shell in detail.
    fn spins(&self) -> Option<Value> {
        let mut shell = Given::default();
        shell.put("n_alpha_minus_beta", self.spin_difference.map(Value::from));
        shell.put("lock_cycles", self.lock_cycles.map(Value::from));
        if !self.atom_spin.is_empty() {
            let spins: Map<String, Value> = self.atom_spin.iter().cloned().collect();
            shell.put("atom_spins", Some(Value::Object(spins)));
        }
        shell.some().or_else(|| self.spin.clone().map(Value::from))
    }
}

/// One name of a library, or what each element has.
fn basis(given: &[String]) -> Result<Option<Value>, Failure> {
    if let [name] = given
        && !name.contains('=')
    {
        return Ok(Some(json!(name)));
    }
    let mut sets = Map::new();
    for item in given {
        let Some((element, what)) = item.split_once('=') else {
            return Err(Failure::usage(
                format!("--basis {item} stands beside another"),
                "give one library, or ELEMENT=NAME for every element",
            ));
        };
        let text = match what.strip_prefix('@') {
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| Failure::Io(file.to_owned(), error))?,
            None => what.to_owned(),
        };
        sets.insert(element.trim().to_owned(), Value::String(text));
    }
    Ok((!sets.is_empty()).then_some(Value::Object(sets)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{How, basis};

    #[test]
    fn flags_become_options_and_what_is_left_out_is_not_sent() {
        let how = How {
            charge: Some(-1),
            shrink: vec![8, 8],
            optgeom: Some("FULLOPTG".into()),
            spin_difference: Some(-2),
            option: vec![
                ("freqcalc".into(), json!({"raman": true})),
                ("optgeom.toldeg".into(), json!(1e-4)),
            ],
            ..How::default()
        };
        assert_eq!(
            how.options().map(super::Given::object).ok(),
            Some(json!({
                "charge": -1,
                "shrink": [8, 8],
                "spin": {"n_alpha_minus_beta": -2},
                "optgeom": {"type": "FULLOPTG", "toldeg": 1e-4},
                "freqcalc": {"raman": true},
            }))
        );
        assert_eq!(
            How::default().options().map(super::Given::some).ok(),
            Some(None)
        );
    }

    #[test]
    fn a_basis_is_one_library_or_one_set_for_each_element() {
        let one = basis(&["STO-3G".to_owned()]).ok().flatten();
        assert_eq!(one, Some(json!("STO-3G")));
        let two = basis(&["Mg=pob-TZVP-rev2".to_owned(), "O=STO-3G".to_owned()]);
        assert_eq!(
            two.ok().flatten(),
            Some(json!({"Mg": "pob-TZVP-rev2", "O": "STO-3G"}))
        );
        assert!(basis(&["STO-3G".to_owned(), "O=STO-3G".to_owned()]).is_err());
    }
}
