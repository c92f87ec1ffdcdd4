//! The fields that are there whatever the parameters of the code.

use super::{CODE, ENGINE, FILES, Field, NAME, TASK};
use crate::rpc::types::CodeInfo;
use crate::screens::new_job::schema::{Kind, Spec};
use crate::widgets::input::TextLine;

impl Field {
    fn of(key: &str, section: &'static str, label: &str, kind: Kind, help: &str) -> Self {
        Self {
            key: key.to_owned(),
            section,
            spec: Spec {
                name: key.to_owned(),
                label: label.to_owned(),
                unit: String::new(),
                kind,
                default: None,
                required: false,
                bounds: String::new(),
                help: help.to_owned(),
            },
            input: TextLine::default(),
        }
    }
}

/// Code, task and engine.
pub(super) fn head(codes: &[CodeInfo], info: Option<&CodeInfo>) -> Vec<Field> {
    let names = codes.iter().map(|code| code.name.clone()).collect();
    let mut fields = vec![Field::of(
        CODE,
        "Job",
        "code",
        Kind::Choice(names),
        "The code that runs it.",
    )];
    let Some(info) = info else {
        return fields;
    };
    if !info.tasks.is_empty() {
        let tasks = Kind::Choice(info.tasks.clone());
        fields.push(Field::of(TASK, "Job", "task", tasks, "What the code does."));
    }
    if !info.engines.is_empty() {
        let engines = Kind::Choice(info.engines.clone());
        fields.push(Field::of(
            ENGINE,
            "Job",
            "engine",
            engines,
            "What computes energies and forces.",
        ));
        let help = "The engine's model, by name or path, where it has several.";
        fields.push(Field::of("model", "Job", "model", Kind::Text, help));
    }
    fields
}

/// Resources, name and further files.
pub(super) fn tail() -> Vec<Field> {
    let resource = |name: &str, label: &str, kind, default: Option<&str>, help| {
        let mut field = Field::of(&format!("resources.{name}"), "Resources", label, kind, help);
        field.spec.default = default.map(str::to_owned);
        field
    };
    let further = "Files to copy beside it; the current directory is that of this program.";
    vec![
        resource(
            "ntasks",
            "processes",
            Kind::Integer,
            Some("1"),
            "MPI ranks.",
        ),
        resource(
            "cpus_per_task",
            "threads",
            Kind::Integer,
            Some("1"),
            "Threads of each process.",
        ),
        resource("memory_mib", "memory", Kind::Text, None, "Like 4G or 500M."),
        resource(
            "walltime_s",
            "time limit",
            Kind::Text,
            None,
            "30 (minutes), 30:00, 1:00:00 or 1-12 (days and hours).",
        ),
        Field::of(FILES, "Files and name", "more files", Kind::Words, further),
        Field::of(
            NAME,
            "Files and name",
            "name",
            Kind::Text,
            "For people; up to 100 characters.",
        ),
    ]
}
