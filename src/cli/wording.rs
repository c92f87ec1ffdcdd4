//! The daemon's words for people at a command line: what it calls a field is the flag that was
//! typed, what it calls a method is the command that calls it. The one place that knows both.

mod arguments;

use crate::error::IpcError;
use crate::wording::{command_with, replace_names};
use arguments::{
    ARGUMENTS, CLUSTER_ARGUMENTS, DECK_ARGUMENTS, ENGINE_ARGUMENTS, INPUT_ARGUMENTS,
    PROPERTY_ARGUMENTS, STRUCTURE_ARGUMENTS, TEMPLATE_ARGUMENTS, WORKFLOW_ARGUMENTS,
};

/// Parameters of jobs that a workflow takes by `--param`.
const HOW_JOBS_RUN: [&str; 5] = [
    "allow_toy_elements",
    "auxiliary",
    "device",
    "dtype",
    "executable",
];

/// Whose arguments are meant: the same field may be a flag of one command and stand at a place of
/// its own in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commands {
    /// Those about jobs, and all others.
    Jobs,
    /// Those below `engines`.
    Engines,
    /// Those about clusters and their queues.
    Clusters,
    /// Those about structures.
    Structures,
    /// The one that describes a new cluster, whose name stands at its place.
    NewCluster,
    /// The one that writes decks.
    Decks,
    /// The one that writes the input files of a code.
    Inputs,
    /// Those about templates.
    Templates,
    /// The one that writes decks of properties.
    Properties,
    /// Those below `workflows`.
    Workflows,
    /// The one that computes bands, which relaxes only when it is asked to.
    Bands,
}

impl Commands {
    /// What the user of the command line knows a field as; `None` for one that no argument fills.
    #[must_use]
    pub fn argument(self, field: &str) -> Option<String> {
        match self {
            Self::Jobs => job_argument(field),
            Self::Engines => engine_argument(field),
            Self::Structures => {
                filled_by(STRUCTURE_ARGUMENTS, field).map(|(argument, _)| argument.to_owned())
            }
            Self::Decks => deck_argument(&DECK_ARGUMENTS, field),
            Self::Properties => deck_argument(PROPERTY_ARGUMENTS, field),
            Self::Inputs => input_argument(field),
            Self::Templates => template_argument(field),
            Self::Bands if field == "options.relax" => Some("--relax".to_owned()),
            Self::Workflows | Self::Bands if field.starts_with("inputs.") => step_argument(field),
            Self::Workflows | Self::Bands => {
                filled_by(WORKFLOW_ARGUMENTS, field).map(|(argument, _)| argument.to_owned())
            }
            Self::NewCluster if field == "name" => Some("CLUSTER".to_owned()),
            Self::Clusters | Self::NewCluster => {
                filled_by(CLUSTER_ARGUMENTS, field).map(|(argument, _)| argument.to_owned())
            }
        }
    }
}

fn job_argument(field: &str) -> Option<String> {
    for member in ["inputs.options", "inputs.engine_options"] {
        match field
            .strip_prefix(member)
            .map(|rest| rest.strip_prefix('.'))
        {
            Some(Some(option)) => return Some(format!("--option {option}")),
            Some(None) if field == member => return Some("--option".to_owned()),
            _ => {}
        }
    }
    let is_part = |name: &&str| {
        ["incar.", "moments_mu_b."]
            .into_iter()
            .any(|part| name.starts_with(part))
    };
    if let Some(option) = field.strip_prefix("inputs.").filter(is_part) {
        return Some(format!("--option {option}"));
    }
    let field = field.strip_prefix("changes.").unwrap_or(field);
    if let Some(element) = field.strip_prefix("inputs.pseudos.") {
        return Some(format!("--option pseudos.{element}"));
    }
    if let Some(parameter) = field.strip_prefix("inputs.") {
        let name = parameter.split('.').next().unwrap_or(parameter);
        return Some(format!("--param {name}"));
    }
    if let Some(parameter) = field.strip_prefix("template_parameters.") {
        let name = parameter.split('.').next().unwrap_or(parameter);
        return Some(format!("--set {name}"));
    }
    if let Some(variable) = field.strip_prefix("context.") {
        return Some(variable.to_owned());
    }
    let found = filled_by(ARGUMENTS, field)?.0;
    (!found.is_empty()).then(|| found.to_owned())
}

/// What the jobs of a workflow are given: all codes take it by the same flag, but for what tells how
/// they run.
fn step_argument(field: &str) -> Option<String> {
    let argument = job_argument(field)?;
    match argument.strip_prefix("--param ") {
        Some(name) if !HOW_JOBS_RUN.contains(&name) => Some(format!("--option {name}")),
        _ => Some(argument),
    }
}

/// A relaxation is a job, whose inputs have flags of their own here.
fn engine_argument(field: &str) -> Option<String> {
    let field = field.strip_prefix("inputs.").unwrap_or(field);
    match filled_by(ENGINE_ARGUMENTS, field)? {
        ("--option", rest) if !rest.is_empty() => Some(format!("--option {rest}")),
        (argument, _) => Some(argument.to_owned()),
    }
}

fn template_argument(field: &str) -> Option<String> {
    if let Some(parameter) = field.strip_prefix("parameters.") {
        let name = parameter.split('.').next().unwrap_or(parameter);
        return Some(format!("--param {name}"));
    }
    filled_by(TEMPLATE_ARGUMENTS, field).map(|(argument, _)| argument.to_owned())
}

/// What has no flag of its own is given as JSON.
fn deck_argument(arguments: &[(&str, &'static str)], field: &str) -> Option<String> {
    if let Some((argument, _)) = filled_by(arguments, field) {
        return Some(argument.to_owned());
    }
    let option = field.strip_prefix("options.")?;
    let name = option.split('.').next().unwrap_or(option);
    Some(format!("--option {name}"))
}

/// Every option has the same flag; a variable of the environment is known by its name.
fn input_argument(field: &str) -> Option<String> {
    if let Some(option) = field.strip_prefix("options.") {
        return Some(format!("--option {option}"));
    }
    if let Some(variable) = field.strip_prefix("context.") {
        return Some(variable.to_owned());
    }
    filled_by(INPUT_ARGUMENTS, field).map(|(argument, _)| argument.to_owned())
}

/// The argument for a field or what lies in it, and the rest of the path.
fn filled_by<'a>(
    arguments: &[(&str, &'static str)],
    field: &'a str,
) -> Option<(&'static str, &'a str)> {
    arguments.iter().find_map(|(name, argument)| {
        let rest = field.strip_prefix(name)?;
        if rest.is_empty() {
            return Some((*argument, ""));
        }
        rest.strip_prefix('.').map(|rest| (*argument, rest))
    })
}

/// Whether an argument stands at its place without a name, so that its message must name it.
fn is_positional(argument: &str) -> bool {
    !argument.starts_with('-') && argument.chars().all(|c| c.is_ascii_uppercase())
}

/// A sentence of the daemon in the words of the command line; `job` is the one it is about.
#[must_use]
pub fn speak(text: &str, job: Option<i64>) -> String {
    speak_of(Commands::Jobs, text, job)
}

/// The same in the words of these commands.
#[must_use]
pub fn speak_of(commands: Commands, text: &str, job: Option<i64>) -> String {
    replace_names(text, |name, value| {
        command_with(name, value, job).or_else(|| flag(commands, name, value))
    })
}

fn flag(commands: Commands, field: &str, value: Option<&str>) -> Option<String> {
    let argument = commands
        .argument(field)
        .filter(|argument| argument.starts_with('-'))?;
    Some(match (argument.contains(' '), value) {
        (_, None) => argument,
        (true, Some(value)) => format!("{argument}={value}"),
        (false, Some(value)) => format!("{argument} {value}"),
    })
}

/// What is wrong with one argument: the sentence, behind the argument's name where it has one or
/// where that must be said in any case.
fn fault(commands: Commands, field: Option<&str>, message: &str, always: bool) -> String {
    let Some(field) = field else {
        return speak_of(commands, message, None);
    };
    let sentence = message
        .strip_prefix(field)
        .and_then(|rest| rest.strip_prefix(": "))
        .unwrap_or(message);
    let sentence = speak_of(commands, sentence, None);
    match commands.argument(field) {
        Some(argument) if always || !is_positional(&argument) => {
            format!("{argument}: {sentence}")
        }
        Some(_) => sentence,
        None if message.contains(field) => message.to_owned(),
        None => format!("{field}: {sentence}"),
    }
}

/// Whether an answer means that an argument cannot be used, which only the daemon could know.
#[must_use]
pub fn blames_argument(error: &IpcError) -> bool {
    match error {
        IpcError::Rpc { code: -32602, .. } => true,
        // Of a job that is named nothing is wrong with the number.
        IpcError::Rpc { .. } => {
            error.kind() == "input_rejected" && error.field().is_some_and(|field| field != "id")
        }
        _ => false,
    }
}

/// Whether a cluster was named that does not exist: an argument that cannot be used, whatever the
/// command.
#[must_use]
pub fn names_no_cluster(commands: Commands, error: &IpcError) -> bool {
    matches!(commands, Commands::Clusters | Commands::NewCluster)
        && error.kind() == "not_found"
        && matches!(error.field(), Some("id" | "cluster"))
}

/// What is wrong, one sentence for each argument.
#[must_use]
pub fn faults(commands: Commands, error: &IpcError) -> Vec<String> {
    let message = error.to_string();
    let fields = match error {
        IpcError::Rpc { data, .. } => data["fields"].as_array(),
        _ => None,
    };
    let mut said: Vec<String> = fields
        .into_iter()
        .flatten()
        .filter_map(|fault_of| {
            let field = fault_of["field"].as_str().filter(|field| !field.is_empty());
            Some(fault(commands, field, fault_of["message"].as_str()?, true))
        })
        .collect();
    // Two members of one field, or of one list, may be at fault in the same way.
    said.dedup();
    if said.is_empty() {
        vec![fault(commands, error.field(), &message, false)]
    } else {
        said
    }
}

/// What can be done about it.
#[must_use]
pub fn hint(commands: Commands, error: &IpcError) -> Option<String> {
    // With several faults the daemon's hint lists them, and so do we.
    let lists = matches!(error, IpcError::Rpc { data, .. } if data["fields"].is_array());
    error
        .hint()
        .filter(|hint| !lists && !error.to_string().contains(hint.as_str()))
        .map(|hint| speak_of(commands, &hint, None))
}

/// An error answer of the daemon for people.
#[must_use]
pub fn render(commands: Commands, error: &IpcError) -> String {
    let mut lines: Vec<String> = faults(commands, error)
        .into_iter()
        .map(|fault| format!("error: {fault}"))
        .collect();
    lines.extend(hint(commands, error).map(|hint| format!("hint: {hint}")));
    if let IpcError::Rpc {
        code: -32603, data, ..
    } = error
        && let Some(trace) = data["trace_id"].as_str()
    {
        lines.push(format!("  trace id in the daemon's log: {trace}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Commands, fault, speak, speak_of};

    #[test]
    fn fields_are_the_arguments_that_were_typed() {
        for (field, expected) in [
            ("resources.walltime_s", Some("--walltime")),
            ("changes.resources.walltime_s", Some("--walltime")),
            ("resources.cpus_per_task", Some("--cpus")),
            ("resources.nodes", Some("--nodes")),
            ("resources.nothing", None),
            ("hostname", None),
            ("name", Some("--name")),
            ("names", None),
            ("inputs", Some("--param")),
            ("inputs.argv.0", Some("--param argv")),
            ("changes.inputs.max_steps", Some("--param max_steps")),
            ("inputs.options.charge", Some("--option charge")),
            (
                "inputs.options.spin.lock_cycles",
                Some("--option spin.lock_cycles"),
            ),
            ("inputs.options", Some("--option")),
            ("inputs.engine_options.head", Some("--option head")),
            ("changes.inputs.options.charge", Some("--param options")),
            ("structure.path", Some("FILE")),
            ("files.3.source", Some("FILE")),
            ("after.1", Some("--after")),
            ("tags.0", Some("--tag")),
            ("context.ESPRESSO_PSEUDO", Some("ESPRESSO_PSEUDO")),
            ("inputs.pseudos.Si", Some("--option pseudos.Si")),
            ("inputs.incar.ENCUT", Some("--option incar.ENCUT")),
            ("inputs.incar", Some("--param incar")),
            ("changes.inputs.incar.ENCUT", Some("--param incar")),
            ("inputs.ecutwfc_ry", Some("--param ecutwfc_ry")),
            ("client_token", None),
            ("", None),
        ] {
            let found = Commands::Jobs.argument(field);
            assert_eq!(found.as_deref(), expected, "{field}");
        }
    }

    #[test]
    fn bands_relax_only_when_they_are_asked_to() {
        for (commands, expected) in [
            (Commands::Bands, "--relax"),
            (Commands::Workflows, "--no-relax"),
        ] {
            let found = commands.argument("options.relax");
            assert_eq!(found.as_deref(), Some(expected));
        }
    }

    #[test]
    fn an_engine_stands_at_its_place_below_engines() {
        for (field, expected) in [
            ("engine", Some("ENGINE")),
            ("model", Some("--model")),
            ("models", Some("--model")),
            ("structures.3.path", Some("FILE")),
            ("structure", Some("FILE")),
            ("options.damping", Some("--option damping")),
            ("options", Some("--option")),
            ("inputs.fmax_ev_per_a", Some("--fmax")),
            ("inputs.engine_options.head", Some("--option head")),
            ("inputs.optimizer", None),
            ("worker", Some("NAME")),
            ("address", Some("--ipi")),
            ("enginery", None),
            ("resources.ntasks", None),
        ] {
            let found = Commands::Engines.argument(field);
            assert_eq!(found.as_deref(), expected, "{field}");
        }
        for (text, expected) in [
            ("give `engine: emt`", "give `engine: emt`"),
            ("give `options.head: a`", "give `--option head=a`"),
            ("give `model`", "give `--model`"),
            (
                "`forces.models` lists",
                "`crystalmath engines models ENGINE` lists",
            ),
        ] {
            assert_eq!(speak_of(Commands::Engines, text, None), expected);
        }
    }

    #[test]
    fn options_of_input_files_have_one_flag() {
        for (field, expected) in [
            ("options.pseudos.Si", Some("--option pseudos.Si")),
            ("options", Some("--option")),
            ("context.ESPRESSO_PSEUDO", Some("ESPRESSO_PSEUDO")),
            ("structure.path", Some("STRUCTURE")),
            ("code", Some("--code")),
            ("task", Some("--task")),
            ("taskless", None),
        ] {
            let found = Commands::Inputs.argument(field);
            assert_eq!(found.as_deref(), expected, "{field}");
        }
    }

    #[test]
    fn a_cluster_stands_at_its_place() {
        for (commands, field, expected) in [
            (Commands::Clusters, "id", Some("CLUSTER")),
            (Commands::Clusters, "name", Some("--name")),
            (Commands::NewCluster, "name", Some("CLUSTER")),
            (Commands::NewCluster, "hostname", Some("--host")),
            (Commands::Clusters, "codes.espresso", Some("--code")),
            (Commands::Clusters, "job_ids.0", Some("JOBID")),
            (Commands::Clusters, "resources.nodes", None),
        ] {
            let found = commands.argument(field);
            assert_eq!(found.as_deref(), expected, "{field}");
        }
    }

    #[test]
    fn methods_are_the_commands_that_call_them() {
        for (text, expected) in [
            (
                "`jobs.list` shows the jobs",
                "`crystalmath jobs` shows the jobs",
            ),
            (
                "`jobs.continue` goes on",
                "`crystalmath continue ID` goes on",
            ),
            (
                "`jobs.series` has more",
                "`crystalmath call jobs.series` has more",
            ),
            ("`engine: emt`", "`--engine emt`"),
            (
                "`materials.convert.cell: primitive` gives it",
                "`crystalmath convert IN OUT --cell primitive` gives it",
            ),
            (
                "give `template_parameters.pseudo_family`",
                "give `--set pseudo_family`",
            ),
            ("`inputs.cell: fixed`", "`--param cell=fixed`"),
            ("give `resources.ntasks`", "give `--ntasks`"),
            ("use runner `local`", "use runner `local`"),
            ("say `id`", "say `id`"),
        ] {
            assert_eq!(speak(text, None), expected);
        }
        assert_eq!(
            speak("`jobs.rerun` repeats it", Some(7)),
            "`crystalmath rerun 7` repeats it"
        );
    }

    #[test]
    fn a_fault_is_said_of_the_argument() {
        for (field, message, expected) in [
            (
                Some("name"),
                "name: must not be empty",
                "--name: must not be empty",
            ),
            (Some("id"), "there is no job 99", "there is no job 99"),
            (
                Some("structure"),
                "no parameters for Si",
                "no parameters for Si",
            ),
            (
                Some("inputs.max_steps"),
                "inputs.max_steps: must be at least 1",
                "--param max_steps: must be at least 1",
            ),
            (
                Some("resources.nodes"),
                "this machine is one node",
                "--nodes: this machine is one node",
            ),
            (
                Some("resources.nothing"),
                "is not known",
                "resources.nothing: is not known",
            ),
            (
                Some("nowhere"),
                "nowhere: is missing",
                "nowhere: is missing",
            ),
            (None, "see `jobs.get`", "see `crystalmath show ID`"),
        ] {
            assert_eq!(fault(Commands::Jobs, field, message, false), expected);
        }
        assert_eq!(
            fault(Commands::Jobs, Some("id"), "must be at least 1", true),
            "ID: must be at least 1"
        );
    }
}
