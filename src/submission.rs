//! What files mean for a submission: the code, the structure, the files to copy, the name, and the
//! variables that travel along. No dialogue with anybody; used by the command line and by the
//! screen for new jobs, so that both submit the same.

mod deck;
mod kind;
mod material;

use std::path::Path;

use serde_json::{Map, Value, json};

pub use kind::{Doubt, Kind, is_structure_name, kind_of};
pub use material::material_name;

/// The variables that codes read from the client's environment.
pub const CONTEXT: [&str; 7] = [
    "CRY23_ROOT",
    "CRY_ARCH",
    "CRY_VERSION",
    "CRY_SCRATCH_BASE",
    "VASP_PP_PATH",
    "PMG_VASP_PSP_DIR",
    "ESPRESSO_PSEUDO",
];

/// The variables of `vars` that travel with a submission.
#[must_use]
pub fn context(var: impl Fn(&str) -> Option<String>) -> Value {
    let set = |name: &&str| Some(((*name).to_owned(), Value::String(var(name)?)));
    Value::Object(CONTEXT.iter().filter_map(set).collect())
}

/// The context of this process.
#[must_use]
pub fn own_context() -> Value {
    context(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

/// A token that makes a resend safe.
#[must_use]
pub fn client_token() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// A file for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name in the job's directory.
    pub name: String,
    /// Where it is, as the daemon can use it, which has another current directory; what the daemon
    /// calls it where it is a [`Kind::Material`] or a [`Kind::Template`].
    pub path: String,
    /// What it is.
    pub kind: Kind,
}

/// What a submission says of its files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parts {
    /// `structure`.
    pub structure: Option<Value>,
    /// `files`.
    pub files: Vec<Value>,
    /// `inputs`.
    pub inputs: Map<String, Value>,
}

/// The code that the first file tells, if it does.
#[must_use]
pub fn code_for(first: Kind, has_engine: bool) -> Option<&'static str> {
    match first {
        Kind::Structure | Kind::Material => Some("forces"),
        Kind::Deck if !has_engine => Some("espresso"),
        Kind::CrystalDeck if !has_engine => Some("crystal"),
        Kind::Incar if !has_engine => Some("vasp"),
        Kind::Program if !has_engine => Some("command"),
        _ => has_engine.then_some("forces"),
    }
}

/// The names of the decks among the files, for a code that runs one of them.
#[must_use]
pub fn decks<'a>(code: &str, sources: &'a [Source]) -> Vec<&'a str> {
    let runs = |source: &&Source| match source.kind {
        Kind::Deck => code == "espresso",
        Kind::CrystalDeck => code == "crystal",
        _ => false,
    };
    let names = sources.iter().filter(runs);
    names.map(|source| source.name.as_str()).collect()
}

/// Structure, files and inputs: what the files mean depends on the code.
#[must_use]
pub fn parts(code: &str, sources: &[Source], inputs: Map<String, Value>) -> Parts {
    let runs = code == "command";
    // Beside an INCAR, POSCAR is an input like the others.
    let is_structure = code != "vasp" || !sources.iter().any(|one| one.kind == Kind::Incar);
    let mut parts = Parts {
        inputs,
        ..Parts::default()
    };
    // The daemon knows a deck by its name alone.
    if let Some(deck) = decks(code, sources).first() {
        parts.inputs.entry("deck").or_insert_with(|| json!(deck));
    }
    for (index, source) in sources.iter().enumerate() {
        // What comes of it are files of the daemon's.
        if source.kind == Kind::Template {
            continue;
        }
        let first = index == 0;
        if source.kind == Kind::Material {
            parts.structure = Some(json!({"material": source.path}));
            continue;
        }
        let read = code == "forces" || (source.kind == Kind::Structure && is_structure);
        if first && !runs && read {
            let mut structure = json!({"path": source.path});
            if matches!(
                source.kind,
                Kind::Deck | Kind::Either(Doubt::NamedStructure)
            ) {
                // Its name says nothing of its format, or the wrong thing.
                structure["format"] = "pwi".into();
            }
            parts.structure = Some(structure);
            continue;
        }
        if first && runs {
            parts
                .inputs
                .entry("argv")
                .or_insert_with(|| json!([format!("./{}", source.name)]));
        }
        let executable = runs && (first || source.kind == Kind::Program);
        parts
            .files
            .push(json!({"path": source.name, "source": source.path, "executable": executable}));
    }
    parts
}

/// A name for the job: the file's, and the task.
#[must_use]
pub fn name_of(first: &Path, task: Option<&str>) -> String {
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    let clean: String = stem
        .chars()
        .filter(|c| !c.is_control() && *c != '\\')
        .collect();
    let stem = clean.trim_matches(|c: char| c == '.' || c.is_whitespace());
    let stem = if stem.is_empty() { "job" } else { stem };
    let name = match task {
        Some(task) => format!("{stem} {task}"),
        None => stem.to_owned(),
    };
    name.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Source, code_for, parts};

    fn source(name: &str, kind: Kind) -> Source {
        Source {
            name: name.to_owned(),
            path: format!("/home/{name}"),
            kind,
        }
    }

    #[test]
    fn a_poscar_is_a_structure_alone_and_an_input_beside_incar() {
        let poscar = source("POSCAR", Kind::Structure);
        let incar = source("INCAR", Kind::Incar);
        assert_eq!(code_for(Kind::Incar, false), Some("vasp"));
        let alone = parts(
            "vasp",
            std::slice::from_ref(&poscar),
            serde_json::Map::default(),
        );
        assert!(alone.structure.is_some() && alone.files.is_empty());
        for sources in [[poscar.clone(), incar.clone()], [incar, poscar]] {
            let both = parts("vasp", &sources, serde_json::Map::default());
            assert!(both.structure.is_none());
            assert_eq!(both.files.len(), 2);
        }
    }
}
