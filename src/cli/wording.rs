//! The daemon's words for people at a command line: what it calls a field is the flag that was
//! typed, what it calls a method is the command that calls it. The one place that knows both.

use crate::error::IpcError;
use crate::wording::{command, replace_names};

/// The arguments, by the field that each one fills. Those in capitals stand at a place of their own.
const ARGUMENTS: [(&str, &str); 60] = [
    ("account", "--account"),
    ("after", "--after"),
    ("client_token", ""),
    ("cluster", "--cluster"),
    ("code", "--code"),
    ("codes", "--code"),
    ("dry_run", "--dry-run"),
    ("engine", "--engine"),
    ("files", "FILE"),
    ("fingerprint", "--fingerprint"),
    ("hostname", "--host"),
    ("id", "ID"),
    ("ids", "ID"),
    ("inputs", "--param"),
    ("job_id", "JOBID"),
    ("job_ids", "JOBID"),
    ("key_file", "--key"),
    ("kind", "--kind"),
    ("launcher", "--launcher"),
    ("limit", "--limit"),
    ("max_concurrent", "--max-jobs"),
    ("max_retrieve_mib", "--max-fetch"),
    ("min_poll_s", "--min-poll"),
    ("model", "--model"),
    ("name", "--name"),
    ("path", "PATH"),
    ("port", "--port"),
    ("proxy_jump", "--jump"),
    ("qos", "--qos"),
    ("query_budget", "--queries"),
    ("queue_name", "--partition"),
    ("remote_workdir", "--workdir"),
    ("resources.account", "--account"),
    ("resources.begin", "--begin"),
    ("resources.constraint", "--constraint"),
    ("resources.cpus_per_task", "--cpus"),
    ("resources.exclusive", "--exclusive"),
    ("resources.extra", "--sbatch"),
    ("resources.gpus", "--gpus"),
    ("resources.memory_mib", "--memory"),
    ("resources.memory_per_cpu_mib", "--memory-per-cpu"),
    ("resources.nodes", "--nodes"),
    ("resources.ntasks", "--ntasks"),
    ("resources.partition", "--partition"),
    ("resources.qos", "--qos"),
    ("resources.walltime_s", "--walltime"),
    ("search", "--search"),
    ("setup_commands", "--setup"),
    ("shell", "--shell"),
    ("slurm_cluster", "--slurm-cluster"),
    ("sort", "--sort"),
    ("state", "--state"),
    ("stream", "--stream"),
    ("structure", "FILE"),
    ("submit_budget", "--submissions"),
    ("tags", "--tag"),
    ("tail", "--tail"),
    ("task", "--task"),
    ("text", "PATH"),
    ("username", "--user"),
];

/// What the user of the command line knows a field as; `None` for one that no argument fills.
#[must_use]
pub fn argument(field: &str) -> Option<String> {
    let field = field.strip_prefix("changes.").unwrap_or(field);
    if let Some(parameter) = field.strip_prefix("inputs.") {
        let name = parameter.split('.').next().unwrap_or(parameter);
        return Some(format!("--param {name}"));
    }
    if let Some(variable) = field.strip_prefix("context.") {
        return Some(variable.to_owned());
    }
    let begins = |known: &&(&str, &str)| {
        field
            .strip_prefix(known.0)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let found = ARGUMENTS.iter().find(begins)?.1;
    (!found.is_empty()).then(|| found.to_owned())
}

/// Whether an argument stands at its place without a name, so that its message must name it.
fn is_positional(argument: &str) -> bool {
    !argument.starts_with('-') && argument.chars().all(|c| c.is_ascii_uppercase())
}

/// A sentence of the daemon in the words of the command line; `job` is the one it is about.
#[must_use]
pub fn speak(text: &str, job: Option<i64>) -> String {
    replace_names(text, |name, value| {
        command(name, job).or_else(|| flag(name, value))
    })
}

fn flag(field: &str, value: Option<&str>) -> Option<String> {
    let argument = argument(field).filter(|argument| argument.starts_with('-'))?;
    Some(match (argument.starts_with("--param "), value) {
        (_, None) => argument,
        (true, Some(value)) => format!("{argument}={value}"),
        (false, Some(value)) => format!("{argument} {value}"),
    })
}

/// Where an error keeps what the arguments of its command are, by the fields that they fill.
const OWN: &str = "arguments";

/// The error, with the arguments of a command in place of those that mostly fill these fields.
#[must_use]
pub fn with_arguments(mut error: IpcError, arguments: &[(&str, &str)]) -> IpcError {
    if let IpcError::Rpc { data, .. } = &mut error
        && data.is_object()
    {
        for (field, argument) in arguments {
            if data[OWN][field].is_null() {
                data[OWN][field] = (*argument).into();
            }
        }
    }
    error
}

/// What the user of the command knows a field as, of which this error is.
#[must_use]
pub fn argument_of(error: &IpcError, field: &str) -> Option<String> {
    let own = match error {
        IpcError::Rpc { data, .. } => data[OWN][field].as_str(),
        _ => None,
    };
    own.map_or_else(|| argument(field), |own| Some(own.to_owned()))
}

/// What is wrong with one argument: the sentence, behind the argument's name where it has one or
/// where that must be said in any case.
fn fault(field: Option<(&str, Option<String>)>, message: &str, always: bool) -> String {
    let Some((field, known)) = field else {
        return speak(message, None);
    };
    let sentence = message
        .strip_prefix(field)
        .and_then(|rest| rest.strip_prefix(": "))
        .unwrap_or(message);
    let sentence = speak(sentence, None);
    match known {
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

/// What is wrong, one sentence for each argument.
#[must_use]
pub fn faults(error: &IpcError) -> Vec<String> {
    let message = error.to_string();
    let fields = match error {
        IpcError::Rpc { data, .. } => data["fields"].as_array(),
        _ => None,
    };
    let named = |field| (field, argument_of(error, field));
    let said: Vec<String> = fields
        .into_iter()
        .flatten()
        .filter_map(|fault_of| {
            let field = fault_of["field"].as_str().filter(|field| !field.is_empty());
            Some(fault(field.map(named), fault_of["message"].as_str()?, true))
        })
        .collect();
    if said.is_empty() {
        vec![fault(error.field().map(named), &message, false)]
    } else {
        said
    }
}

/// What can be done about it.
#[must_use]
pub fn hint(error: &IpcError) -> Option<String> {
    // With several faults the daemon's hint lists them, and so do we.
    let lists = matches!(error, IpcError::Rpc { data, .. } if data["fields"].is_array());
    error
        .hint()
        .filter(|hint| !lists && !error.to_string().contains(hint.as_str()))
        .map(|hint| speak(&hint, None))
}

/// An error answer of the daemon for people.
#[must_use]
pub fn render(error: &IpcError) -> String {
    let mut lines: Vec<String> = faults(error)
        .into_iter()
        .map(|fault| format!("error: {fault}"))
        .collect();
    lines.extend(hint(error).map(|hint| format!("hint: {hint}")));
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
    use super::{argument, fault, speak};

    #[test]
    fn fields_are_the_arguments_that_were_typed() {
        for (field, expected) in [
            ("resources.walltime_s", Some("--walltime")),
            ("changes.resources.walltime_s", Some("--walltime")),
            ("resources.cpus_per_task", Some("--cpus")),
            ("resources.nodes", Some("--nodes")),
            ("resources.nothing", None),
            ("hostname", Some("--host")),
            ("codes.espresso", Some("--code")),
            ("name", Some("--name")),
            ("names", None),
            ("inputs", Some("--param")),
            ("inputs.argv.0", Some("--param argv")),
            ("changes.inputs.max_steps", Some("--param max_steps")),
            ("structure.path", Some("FILE")),
            ("files.3.source", Some("FILE")),
            ("after.1", Some("--after")),
            ("tags.0", Some("--tag")),
            ("context.ESPRESSO_PSEUDO", Some("ESPRESSO_PSEUDO")),
            ("client_token", None),
            ("", None),
        ] {
            assert_eq!(argument(field).as_deref(), expected, "{field}");
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
            let field = field.map(|field| (field, argument(field)));
            assert_eq!(fault(field, message, false), expected);
        }
        assert_eq!(
            fault(Some(("id", argument("id"))), "must be at least 1", true),
            "ID: must be at least 1"
        );
    }
}
