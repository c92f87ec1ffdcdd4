//! `crystalmath convert`: a structure in another format. A file that is there is not overwritten
//! unasked.

use std::path::{Path, PathBuf};

use super::inspect::structure_in;
use super::output::{self, Failure, Outcome};
use super::params::finite;
use super::results::field;
use super::session::Session;
use super::wording::Commands;
use super::writing;
use crate::rpc::types::{ConvertParams, ConvertParamsCell, ConvertResult, Written, calls};

/// What the names of files end with, and the format that is written then.
const ENDINGS: [(&str, &str); 10] = [
    ("cif", "cif"),
    ("vasp", "poscar"),
    ("poscar", "poscar"),
    ("contcar", "poscar"),
    ("xyz", "xyz"),
    ("extxyz", "extxyz"),
    ("xsf", "xsf"),
    ("gui", "gui"),
    ("f34", "gui"),
    ("json", "json"),
];

/// Arguments of `convert`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A structure file, or a name that a search gave, like embedded:periclase-MgO or local:3
    #[arg(value_name = "IN")]
    pub file: PathBuf,
    /// The file to write; - writes it to stdout
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Format of IN; told by its name when left out
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<String>,
    /// Format of OUT; told by its name when left out
    #[arg(long, value_name = "FORMAT",
          value_parser = ["cif", "poscar", "xyz", "extxyz", "xsf", "gui", "json"])]
    pub to: Option<String>,
    /// The cell to write: as given, or an idealised standard one
    #[arg(long, value_name = "CELL", value_parser = ["as_given", "primitive", "conventional"])]
    pub cell: Option<String>,
    /// How far an atom may be from its idealised place, in Å
    #[arg(long, value_name = "ANGSTROM", value_parser = finite)]
    pub symprec: Option<f64>,
    /// Empty space around what does not repeat, in Å, for a format that needs a cell
    #[arg(long, value_name = "ANGSTROM", value_parser = finite)]
    pub vacuum: Option<f64>,
    /// Overwrite OUT
    #[arg(long)]
    pub force: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    convert(session, args).map_err(|failure| failure.of(Commands::Structures))
}

fn convert(session: &Session, args: &Args) -> Outcome {
    let to_stdout = args.out.as_os_str() == "-";
    let format = match &args.to {
        Some(format) => format.clone(),
        None => format_of(&args.out)?,
    };
    if !to_stdout {
        writing::check_free([args.out.as_path()], args.force)?;
    }
    let answer = session.call::<calls::MaterialsConvert>(&ConvertParams {
        structure: structure_in(&args.file, args.from.as_ref())?,
        format: Written::from(format.as_str()),
        cell: args.cell.as_deref().map(ConvertParamsCell::from),
        symprec_angstrom: args.symprec,
        vacuum_angstrom: args.vacuum,
    })?;
    let found = &answer.read.data;
    if to_stdout {
        if session.globals.json {
            output::document(&answer.raw)?;
        } else {
            output::text(&found.text)?;
        }
        return Ok(0);
    }
    writing::write(&args.out, &found.text, args.force)?;
    session.print(&answer.raw, || render(found, &args.out))?;
    Ok(0)
}

fn format_of(out: &Path) -> Result<String, Failure> {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let upper = name.to_uppercase();
    if upper.starts_with("POSCAR") || upper.starts_with("CONTCAR") {
        return Ok("poscar".into());
    }
    if upper == "FORT.34" {
        return Ok("gui".into());
    }
    let ending = out.extension().unwrap_or_default().to_string_lossy();
    let ending = ending.to_lowercase();
    ENDINGS
        .iter()
        .find(|(known, _)| *known == ending)
        .map(|(_, format)| (*format).to_owned())
        .ok_or_else(|| {
            Failure::usage(
                format!("the name {name} does not say which format to write"),
                "give --to cif, poscar, xyz, extxyz, xsf, gui or json",
            )
        })
}

fn render(found: &ConvertResult, out: &Path) -> String {
    let mut lines = vec![format!(
        "{} written: {} {}, {} atoms",
        out.display(),
        found.format.as_str(),
        found.formula,
        found.n_atoms
    )];
    if let Some(symmetry) = &found.symmetry {
        lines.push(field(
            "idealised",
            &format!(
                "{} ({}), tolerance {} Å, an atom moved by up to {:.5} Å",
                symmetry.symbol,
                symmetry.number,
                symmetry.symprec_angstrom,
                symmetry.max_displacement_angstrom
            ),
        ));
    }
    lines.extend(
        found
            .warnings
            .iter()
            .map(|warning| field("warning", warning)),
    );
    lines.join("\n")
}
