//! `crystalmath inputs`: write the input files of a code for a structure, without a job.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::inspect::structure_in;
use super::output::{Failure, Outcome};
use super::params::{key_value, own_context, with_options};
use super::results::field;
use super::session::Session;
use super::wording::{Commands, speak_of};
use super::writing;
use crate::rpc::types::{
    DryRunFile, GenerateInputsParams, GenerateInputsResult, InputsReport, calls,
};

/// Arguments of `inputs`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A structure file, or a name that a search gave, like embedded:periclase-MgO or local:3
    #[arg(value_name = "STRUCTURE")]
    pub structure: PathBuf,
    /// The code that reads the files: espresso or vasp
    #[arg(long, value_name = "CODE")]
    pub code: String,
    /// What it shall do: scf, relax, vc-relax …
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Format of the file, where its name does not say it
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// How: `ecutwfc_ry=40`, `pseudos.Si=Si.pz-vbc.UPF`, `k_mesh=[4,4,4]`; repeat for more
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub option: Vec<(String, Value)>,
    /// Write the files into this directory, with those that belong to them
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    pub force: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    generate(session, args).map_err(|failure| failure.of(Commands::Inputs))
}

fn generate(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::MaterialsGenerateInputs>(&GenerateInputsParams {
        code: args.code.clone(),
        structure: structure_in(&args.structure, args.format.as_ref())?,
        task: args.task.clone(),
        options: Some(with_options(Map::new(), &args.option)?),
        context: serde_json::from_value(own_context()).ok(),
        in_place: None,
    })?;
    let made = &answer.read.data;
    if let Some(folder) = &args.output {
        write(folder, &made.files, args.force)?;
        session.print(&answer.raw, || summary(&made.report, folder, &made.files))?;
    } else {
        session.print(&answer.raw, || texts(made))?;
    }
    session.warn(Commands::Inputs, &made.report.warnings);
    Ok(0)
}

fn write(folder: &Path, files: &[DryRunFile], force: bool) -> Result<(), Failure> {
    let places: Vec<PathBuf> = files.iter().map(|file| folder.join(&file.path)).collect();
    writing::check_free(places.iter().map(PathBuf::as_path), force)?;
    for (file, place) in files.iter().zip(&places) {
        let cannot = |error| Failure::Io(format!("cannot write {}", place.display()), error);
        writing::make_folder_of(place)?;
        match (&file.content, &file.source) {
            (Some(content), _) => writing::write(place, content, force)?,
            (None, Some(source)) => copy(Path::new(source), place).map_err(cannot)?,
            (None, None) => {}
        }
    }
    Ok(())
}

/// A file that is its own source already stays as it is: copying it would empty it.
fn copy(source: &Path, place: &Path) -> std::io::Result<()> {
    let whole = source.canonicalize()?;
    if place.canonicalize().is_ok_and(|there| there == whole) {
        return Ok(());
    }
    std::fs::copy(source, place).map(drop)
}

/// The files that were written, each behind its name where there are several.
fn texts(made: &GenerateInputsResult) -> String {
    let files = made.files.iter();
    let written: Vec<writing::Made<'_>> = files
        .filter_map(|file| Some((file.path.as_str(), file.content.as_deref()?)))
        .collect();
    writing::printed(&written).trim_end().to_owned()
}

fn summary(report: &InputsReport, folder: &Path, files: &[DryRunFile]) -> String {
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut lines = vec![
        format!("{}: {}", folder.display(), names.join(", ")),
        field(
            "task",
            &format!(
                "{} {} of {}, {} atoms",
                report.code, report.task, report.formula, report.n_atoms
            ),
        ),
    ];
    if let Some(group) = &report.space_group {
        let symbol = group.get("symbol").and_then(Value::as_str).unwrap_or("?");
        let tolerance = report.symprec_angstrom;
        lines.push(field(
            "symmetry",
            &format!("{symbol}, tolerance {tolerance} Å"),
        ));
    }
    lines.push(field("k points", &points(report)));
    for one in &report.pseudopotentials {
        lines.push(field(
            one.element.as_str(),
            &[
                Some(one.file.as_str()),
                one.kind.as_deref(),
                one.functional.as_deref(),
            ]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", "),
        ));
    }
    for (name, value) in &report.settings {
        lines.push(field(name, &setting(value)));
    }
    lines.join("\n")
}

/// A value, and why it is so where that is told.
fn setting(given: &Value) -> String {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let said = match (given.get("value"), given.get("from")) {
        (Some(value), Some(origin)) => format!("{}, {}", plain(value), plain(origin)),
        (Some(value), None) => plain(value),
        _ => plain(given),
    };
    speak_of(Commands::Inputs, &said, None)
}

fn points(report: &InputsReport) -> String {
    let numbers = |sizes: &[i64], between: &str| {
        let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        words.join(between)
    };
    let Some(mesh) = &report.k_mesh else {
        return report.k_points_from.clone();
    };
    let shift = report.k_shift.as_deref().unwrap_or_default();
    let beside = if shift.iter().any(|&step| step != 0) {
        format!(", shifted by {} half steps", numbers(shift, " "))
    } else {
        String::new()
    };
    format!("{}{beside}: {}", numbers(mesh, " × "), report.k_points_from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{points, setting, texts};
    use crate::rpc::types::{DryRunFile, GenerateInputsResult, InputsReport};

    #[test]
    fn one_text_is_printed_as_it_is_and_several_behind_their_names() {
        let file = |path: &str, content: Option<&str>| DryRunFile {
            path: path.into(),
            content: content.map(Into::into),
            ..DryRunFile::default()
        };
        let mut made = GenerateInputsResult {
            files: vec![
                file("a.in", Some("&control\n")),
                file("pseudo/Si.UPF", None),
            ],
            ..GenerateInputsResult::default()
        };
        assert_eq!(texts(&made), "&control");
        made.files.push(file("b.in", Some("x\n")));
        assert_eq!(texts(&made), "--- a.in\n&control\n--- b.in\nx");
    }

    #[test]
    fn a_setting_is_told_with_its_reason() {
        for (given, expected) in [
            (
                json!({"value": 18.0, "from": "as asked for"}),
                "18.0, as asked for",
            ),
            (json!({"value": 8}), "8"),
            (json!("PBE"), "PBE"),
        ] {
            assert_eq!(setting(&given), expected);
        }
    }

    #[test]
    fn the_mesh_is_told_with_its_reason() {
        let mut report = InputsReport {
            k_mesh: Some(vec![4, 4, 2]),
            k_shift: Some(vec![0, 0, 0]),
            k_points_from: "as asked for".into(),
            ..InputsReport::default()
        };
        assert_eq!(points(&report), "4 × 4 × 2: as asked for");
        report.k_shift = Some(vec![1, 1, 1]);
        assert_eq!(
            points(&report),
            "4 × 4 × 2, shifted by 1 1 1 half steps: as asked for"
        );
        report.k_mesh = None;
        assert_eq!(points(&report), "as asked for");
    }
}
