//! The fields that are there whatever the parameters of the code.

use super::{CLUSTER, CODE, ENGINE, FILES, Field, NAME, TASK};
use crate::rpc::types::{ClusterView, ClusterViewKind, CodeInfo};
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
            "What computes energies and forces. Others are installed on the screen Engines.",
        ));
        let help = "The engine's model, by name or path, where it has several.";
        fields.push(Field::of("model", "Job", "model", Kind::Text, help));
    }
    fields
}

/// Where it runs, resources, name and further files. What only a scheduler has is asked for where
/// the chosen `cluster` has one.
pub(super) fn tail(clusters: &[ClusterView], cluster: &str) -> Vec<Field> {
    let mut fields = place(clusters);
    fields.extend(resources());
    let chosen = clusters.iter().find(|one| one.name == cluster);
    let chosen = chosen.filter(|one| one.kind == ClusterViewKind::Slurm);
    fields.extend(chosen.into_iter().flat_map(of_scheduler));
    let further = "Files to copy beside it; the current directory is that of this program.";
    fields.push(Field::of(
        FILES,
        "Files and name",
        "more files",
        Kind::Words,
        further,
    ));
    fields.push(Field::of(
        NAME,
        "Files and name",
        "name",
        Kind::Text,
        "For people; up to 100 characters.",
    ));
    fields
}

/// Where it runs, if there is a choice.
fn place(clusters: &[ClusterView]) -> Vec<Field> {
    if clusters.is_empty() {
        return Vec::new();
    }
    let names = clusters.iter().map(|cluster| cluster.name.clone());
    let mut field = Field::of(
        CLUSTER,
        "Resources",
        "cluster",
        Kind::Choice(names.collect()),
        "Where it runs.",
    );
    field.spec.default = Some("this machine".to_owned());
    vec![field]
}

fn resource(name: &str, label: &str, kind: Kind, default: Option<&str>, help: &str) -> Field {
    let mut field = Field::of(&format!("resources.{name}"), "Resources", label, kind, help);
    field.spec.default = default.map(str::to_owned);
    field
}

pub(super) fn resources() -> Vec<Field> {
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
        resource(
            "memory_mib",
            "memory",
            Kind::Text,
            None,
            "Of each node: 4G or 500M; a number alone is in MiB.",
        ),
        resource(
            "walltime_s",
            "time limit",
            Kind::Text,
            None,
            "30 (minutes), 30:00, 1:00:00 or 1-12 (days and hours).",
        ),
    ]
}

/// What a scheduler wants to know, with the limits that the last test of the cluster found.
fn of_scheduler(cluster: &ClusterView) -> Vec<Field> {
    let own = |value: &Option<String>| value.clone();
    let limits = crate::clusters::partition_limits(cluster);
    let partitions = if limits.is_empty() {
        "Partition. A test of the cluster finds out which there are.".to_owned()
    } else {
        format!("Partition: {}.", limits.join("; "))
    };
    let text = |name: &str, label: &str, default: Option<String>, help: &str| {
        resource(name, label, Kind::Text, default.as_deref(), help)
    };
    vec![
        resource("nodes", "nodes", Kind::Integer, Some("1"), "Nodes."),
        resource(
            "ntasks_per_node",
            "per node",
            Kind::Integer,
            None,
            "Most processes on each node.",
        ),
        text(
            "array",
            "tasks",
            None,
            "A job array: 1-20, 1-20%4 (four at once), 0-20:5 or 1,3,7.",
        ),
        text(
            "partition",
            "partition",
            own(&cluster.queue_name),
            &partitions,
        ),
        text("account", "account", own(&cluster.account), "Who pays."),
        text("qos", "qos", own(&cluster.qos), "Quality of service."),
        text("gpus", "GPUs", None, "Of each node: 2, or a100:2."),
    ]
}
