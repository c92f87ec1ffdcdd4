//! The daemon's words for people at a command line: what it calls a field is the flag that was
//! typed, what it calls a method is the command that calls it. The one place that knows both.

use crate::error::IpcError;
use crate::wording::{command, replace_names};

/// The arguments, by the field that each one fills. Those in capitals stand at a place of their own.
const ARGUMENTS: [(&str, &str); 27] = [
    ("after", "--after"),
    ("client_token", ""),
    ("cluster", "--cluster"),
    ("code", "--code"),
    ("dry_run", "--dry-run"),
    ("engine", "--engine"),
    ("files", "FILE"),
    ("id", "ID"),
    ("ids", "ID"),
    ("inputs", "--param"),
    ("limit", "--limit"),
    ("model", "--model"),
    ("name", "--name"),
    ("path", "PATH"),
    ("resources.cpus_per_task", "--cpus"),
    ("resources.memory_mib", "--memory"),
    ("resources.ntasks", "--ntasks"),
    ("resources.walltime_s", "--walltime"),
    ("search", "--search"),
    ("sort", "--sort"),
    ("state", "--state"),
    ("stream", "--stream"),
    ("structure", "FILE"),
    ("tags", "--tag"),
    ("tail", "--tail"),
    ("task", "--task"),
    ("text", "PATH"),
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

/// What is wrong with one argument: the sentence, behind the argument's name where it has one or
/// where that must be said in any case.
fn fault(field: Option<&str>, message: &str, always: bool) -> String {
    let Some(field) = field else {
        return speak(message, None);
    };
    let sentence = message
        .strip_prefix(field)
        .and_then(|rest| rest.strip_prefix(": "))
        .unwrap_or(message);
    let sentence = speak(sentence, None);
    match argument(field) {
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
    let said: Vec<String> = fields
        .into_iter()
        .flatten()
        .filter_map(|fault_of| {
            let field = fault_of["field"].as_str().filter(|field| !field.is_empty());
            Some(fault(field, fault_of["message"].as_str()?, true))
        })
        .collect();
    if said.is_empty() {
        vec![fault(error.field(), &message, false)]
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
            ("resources.nodes", None),
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
                "resources.nodes: this machine is one node",
            ),
            (
                Some("nowhere"),
                "nowhere: is missing",
                "nowhere: is missing",
            ),
            (None, "see `jobs.get`", "see `crystalmath show ID`"),
        ] {
            assert_eq!(fault(field, message, false), expected);
        }
        assert_eq!(
            fault(Some("id"), "must be at least 1", true),
            "ID: must be at least 1"
        );
    }
}
