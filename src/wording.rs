//! The daemon's sentences name methods and fields of the wire, in backticks: `` `jobs.get` ``,
//! `` `resources.walltime_s` ``, `` `engine: emt` ``. Each client says what its own users know
//! them by; what a method is as a command is known here, for those who have nothing better. Pure text.

use crate::rpc::METHODS;

/// The commands, by the method that each one calls; `ID` stands for a job.
const COMMANDS: &[(&str, &str)] = &[
    (
        "clusters.accept_host_key",
        "clusters accept-host-key CLUSTER",
    ),
    ("clusters.create", "clusters add CLUSTER"),
    ("clusters.delete", "clusters remove CLUSTER"),
    ("clusters.get", "clusters show CLUSTER"),
    ("clusters.list", "clusters"),
    ("clusters.login", "clusters login CLUSTER"),
    ("clusters.test", "clusters test CLUSTER"),
    ("clusters.update", "clusters edit CLUSTER"),
    ("codes.lint", "lint PATH"),
    ("codes.list", "codes"),
    ("codes.read_output", "read PATH"),
    ("forces.doctor", "engines doctor ENGINE"),
    ("forces.engines", "engines"),
    ("forces.environments", "engines environments"),
    ("forces.evaluate", "engines evaluate ENGINE FILE"),
    ("forces.gc", "engines gc"),
    ("forces.install", "engines install ENGINE"),
    ("forces.models", "engines models ENGINE"),
    ("forces.relax", "engines relax ENGINE FILE"),
    ("forces.serve", "engines serve ENGINE --ipi ADDRESS"),
    ("forces.stop", "engines stop NAME"),
    ("forces.workers", "engines workers"),
    ("jobs.cancel", "cancel ID"),
    ("jobs.continue", "continue ID"),
    ("jobs.delete", "delete ID"),
    ("jobs.files", "files ID"),
    ("jobs.get", "show ID"),
    ("jobs.import_results", "import PATH"),
    ("jobs.list", "jobs"),
    ("jobs.log", "log ID"),
    ("jobs.read_file", "cat ID FILE"),
    ("jobs.rerun", "rerun ID"),
    ("jobs.submit", "submit"),
    ("materials.generate_d12", "d12 STRUCTURE"),
    ("materials.convert", "convert IN OUT"),
    ("materials.generate_d3", "d3 DECK"),
    ("materials.generate_inputs", "inputs STRUCTURE"),
    ("materials.providers", "search --providers"),
    ("materials.search", "search QUERY"),
    ("slurm.adopt", "adopt CLUSTER JOBID"),
    ("slurm.cancel", "queue cancel CLUSTER JOBID"),
    ("slurm.queue", "queue CLUSTER"),
    ("slurm.release", "queue release CLUSTER JOBID"),
    ("system.doctor", "doctor"),
    ("templates.get", "templates show NAME"),
    ("templates.list", "templates"),
    ("templates.render", "templates render NAME"),
    ("templates.save", "templates save NAME"),
    ("workflows.available", "workflows available"),
    ("workflows.cancel", "workflows cancel ID"),
    ("workflows.create_bands", "workflows bands STRUCTURE"),
    (
        "workflows.create_convergence",
        "workflows convergence STRUCTURE",
    ),
    ("workflows.create_elastic", "workflows elastic STRUCTURE"),
    ("workflows.create_eos", "workflows eos STRUCTURE"),
    ("workflows.create_md", "workflows md STRUCTURE"),
    ("workflows.create_phonon", "workflows phonon STRUCTURE"),
    ("workflows.create_relax", "workflows relax STRUCTURE"),
    ("workflows.export", "workflows export ID"),
    ("workflows.get", "workflows show ID"),
    ("workflows.list", "workflows"),
    ("workflows.plot", "workflows plot ID"),
    ("workflows.resume", "workflows resume ID"),
    ("workflows.retry", "workflows retry ID STEP"),
    ("rpc.discover", "call rpc.discover"),
];

/// Fields of a method that are named with it and a value, `materials.convert.cell: primitive`: the
/// command, up to that value.
const COMMANDS_WITH: &[(&str, &str)] = &[
    ("materials.convert.cell", "convert IN OUT --cell"),
    (
        "materials.convert.vacuum_angstrom",
        "convert IN OUT --vacuum",
    ),
];

/// Replace every name in backticks for which `say` knows a better one. It gets the name, and the
/// value that stands behind it if there is one.
#[must_use]
pub fn replace_names(text: &str, say: impl Fn(&str, Option<&str>) -> Option<String>) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((token, after)) = behind.split_once('`') else {
            break;
        };
        let (name, value) = match token.split_once(": ") {
            Some((name, value)) => (name, Some(value)),
            None => (token, None),
        };
        said.push_str(before);
        let word = say(name, value).unwrap_or_else(|| token.to_owned());
        said.push('`');
        said.push_str(&word);
        said.push('`');
        rest = after;
    }
    said.push_str(rest);
    said
}

/// The command that calls a method, about this job if one is named.
#[must_use]
pub fn command(method: &str, job: Option<i64>) -> Option<String> {
    let known = COMMANDS.iter().find(|known| known.0 == method);
    match (known, job) {
        (Some((_, command)), Some(job)) => {
            let job = job.to_string();
            let words = command.split(' ');
            let words = words.map(|word| if word == "ID" { &job } else { word });
            Some(format!(
                "crystalmath {}",
                words.collect::<Vec<_>>().join(" ")
            ))
        }
        (Some((_, command)), None) => Some(format!("crystalmath {command}")),
        (None, _) => METHODS
            .iter()
            .any(|info| info.name == method)
            .then(|| format!("crystalmath call {method}")),
    }
}

/// The same for a name that a value may stand behind.
#[must_use]
pub fn command_with(name: &str, value: Option<&str>, job: Option<i64>) -> Option<String> {
    let known = COMMANDS_WITH.iter().find(|known| known.0 == name);
    match (known, value) {
        (Some((_, command)), Some(value)) => Some(format!("crystalmath {command} {value}")),
        _ => command(name, job),
    }
}

/// A sentence in which methods are the commands that call them.
#[must_use]
pub fn with_commands(text: &str) -> String {
    replace_names(text, |name, value| command_with(name, value, None))
}

#[cfg(test)]
mod tests {
    use super::{replace_names, with_commands};

    #[test]
    fn methods_are_commands_for_those_who_have_nothing_better() {
        assert_eq!(
            with_commands("see `forces.workers`, not `x`"),
            "see `crystalmath engines workers`, not `x`"
        );
        assert_eq!(
            with_commands("`materials.convert.cell: primitive` gives it"),
            "`crystalmath convert IN OUT --cell primitive` gives it"
        );
    }

    #[test]
    fn names_in_backticks_are_replaced_and_nothing_else() {
        let say = |name: &str, value: Option<&str>| match (name, value) {
            ("a", None) => Some("--a".to_owned()),
            ("a", Some(value)) => Some(format!("--a={value}")),
            _ => None,
        };
        for (text, expected) in [
            ("", ""),
            ("a", "a"),
            ("give `a`, not `b`", "give `--a`, not `b`"),
            ("`a: 1`", "`--a=1`"),
            ("`b: 1`", "`b: 1`"),
            ("an open `a", "an open `a"),
            ("``", "``"),
        ] {
            assert_eq!(replace_names(text, say), expected);
        }
    }
}
