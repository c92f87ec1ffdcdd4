//! The daemon's sentences in the words of this UI: a method is the action that calls it, a field is what
//! the form calls it.

use crate::error::IpcError;
use crate::msg::Action;
use crate::units;
use crate::wording::{command_with, replace_names};

/// What calls a method here.
const METHODS: [(&str, Action); 24] = [
    ("clusters.accept_host_key", Action::TrustKey),
    ("clusters.create", Action::New),
    ("clusters.delete", Action::Delete),
    ("clusters.test", Action::Test),
    ("clusters.update", Action::Edit),
    ("forces.doctor", Action::Doctor),
    ("forces.gc", Action::Unused),
    ("forces.install", Action::Install),
    ("jobs.cancel", Action::Cancel),
    ("jobs.continue", Action::Continue),
    ("jobs.delete", Action::Delete),
    ("jobs.log", Action::Log),
    ("jobs.rerun", Action::Rerun),
    ("jobs.submit", Action::New),
    ("materials.generate_d12", Action::Deck),
    ("materials.import", Action::Import),
    ("slurm.adopt", Action::Adopt),
    ("slurm.cancel", Action::Cancel),
    ("slurm.release", Action::Release),
    ("system.status", Action::Refresh),
    ("workflows.cancel", Action::Cancel),
    ("workflows.create_", Action::Workflow),
    ("workflows.resume", Action::Continue),
    ("workflows.retry", Action::Rerun),
];

/// What shows the answer of a method here.
const PLACES: [(&str, &str); 17] = [
    ("clusters.get", "Clusters"),
    ("clusters.list", "Clusters"),
    ("forces.engines", "Engines"),
    ("forces.environments", "Environments"),
    ("forces.workers", "Workers"),
    ("jobs.get", "Summary"),
    ("jobs.files", "Files"),
    ("jobs.list", "Jobs"),
    ("materials.get", "Materials"),
    ("materials.inspect", "Materials"),
    ("materials.search", "Materials"),
    ("slurm.queue", "Queue"),
    ("templates.list", "Templates"),
    ("templates.render", "Templates"),
    ("workflows.available", "workflow"),
    ("workflows.get", "Workflows"),
    ("workflows.list", "Workflows"),
];

/// Fields that the form calls otherwise.
const FIELDS: [(&str, &str); 20] = [
    ("hostname", "host"),
    ("key_file", "key file"),
    ("proxy_jump", "through"),
    ("queue_name", "partition"),
    ("remote_workdir", "directory"),
    ("setup_commands", "setup"),
    ("username", "user"),
    ("resources.account", "account"),
    ("resources.array", "tasks"),
    ("resources.cpus_per_task", "threads"),
    ("resources.gpus", "GPUs"),
    ("resources.memory_mib", "memory"),
    ("resources.nodes", "nodes"),
    ("resources.ntasks", "processes"),
    ("resources.ntasks_per_node", "per node"),
    ("resources.partition", "partition"),
    ("resources.qos", "qos"),
    ("resources.walltime_s", "time limit"),
    ("files", "more files"),
    ("structure", "file"),
];

/// A sentence of the daemon with the names that users of this UI know.
#[must_use]
pub fn speak(text: &str) -> String {
    replace_names(text, |name, value| {
        let here = method(name).or_else(|| field(name));
        let Some(known) = here else {
            // What this UI does not do, the command line does.
            return command_with(name, value, None);
        };
        Some(match value {
            Some(value) => format!("{known}: {}", plain(value)),
            None => known,
        })
    })
}

/// An error in one line, with what to do about it.
#[must_use]
pub fn error_text(error: &IpcError) -> String {
    let message = error.to_string();
    let whole = match error.hint() {
        Some(hint) if !message.contains(&hint) => format!("{message} ({hint})"),
        _ => message,
    };
    speak(&whole)
}

fn method(name: &str) -> Option<String> {
    // Which kind is chosen in the form.
    let created = name.starts_with("workflows.create_");
    let name = if created { "workflows.create_" } else { name };
    let action = METHODS.iter().find(|(method, _)| *method == name);
    let place = PLACES.iter().find(|(method, _)| *method == name);
    let action = action.map(|(_, action)| action.info().name.to_owned());
    action.or_else(|| place.map(|(_, place)| (*place).to_owned()))
}

fn field(name: &str) -> Option<String> {
    if let Some((_, words)) = FIELDS.iter().find(|(field, _)| *field == name) {
        return Some((*words).to_owned());
    }
    let parts = ["inputs.", "options."];
    let inner = parts.iter().find_map(|part| name.strip_prefix(part));
    inner.map(|name| units::split(name).0)
}

fn plain(value: &str) -> &str {
    match value {
        "true" => "yes",
        "false" => "no",
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::speak;

    #[test]
    fn methods_and_fields_are_called_as_they_are_seen() {
        for (text, words) in [
            (
                "`jobs.continue` goes on; give it more time: `resources.walltime_s`",
                "`continue` goes on; give it more time: `time limit`",
            ),
            (
                "`inputs.allow_toy_elements: true`",
                "`allow toy elements: yes`",
            ),
            ("wants `inputs.fmax_ev_per_a`", "wants `fmax`"),
            ("`engine: emt`", "`engine: emt`"),
            ("`jobs.files` lists them", "`Files` lists them"),
            (
                "`codes.read_output` reads it",
                "`crystalmath read PATH` reads it",
            ),
            (
                "`materials.convert.cell: primitive` gives it",
                "`crystalmath convert IN OUT --cell primitive` gives it",
            ),
            ("nothing here", "nothing here"),
        ] {
            assert_eq!(speak(text), words);
        }
    }
}
