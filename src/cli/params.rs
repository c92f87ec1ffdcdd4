//! Pieces of params that several commands build: paths, `key=value`, resources, the context.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::output::Failure;

pub use crate::submission::{client_token, own_context};

/// `key=value`, the value as it was typed.
///
/// # Errors
/// There is no `=`, or nothing before it.
pub fn key_text(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write it as KEY=VALUE".into()),
    }
}

/// `key=value`, the value read as JSON where it is JSON.
///
/// # Errors
/// There is no `=`, or nothing before it.
pub fn key_value(text: &str) -> Result<(String, Value), String> {
    let (key, value) = key_text(text)?;
    let read = serde_json::from_str(&value).unwrap_or(Value::String(value));
    Ok((key, read))
}

/// The path of a file as the daemon can use it, which has another current directory.
///
/// # Errors
/// The path is not text, or there is no such file.
pub fn absolute_file(path: &Path) -> Result<String, Failure> {
    if !found(path)?.is_file() {
        return Err(Failure::Usage {
            message: format!("{} is not a file", path.display()),
            hint: None,
        });
    }
    absolute(path)
}

/// The path of a file or directory, in the same way.
///
/// # Errors
/// The path is not text, or there is nothing.
pub fn absolute_path(path: &Path) -> Result<String, Failure> {
    found(path)?;
    absolute(path)
}

fn found(path: &Path) -> Result<std::fs::Metadata, Failure> {
    std::fs::metadata(path).map_err(|error| Failure::Usage {
        message: format!("{}: {error}", path.display()),
        hint: None,
    })
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let absolute = std::path::absolute(path)
        .map_err(|error| Failure::Io(path.display().to_string(), error))?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|path| Failure::Usage {
            message: format!("{} is not valid UTF-8", path.display()),
            hint: Some("give it another name".into()),
        })
}

/// What a job needs of the machine.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ResourceArgs {
    /// Processes (MPI ranks)
    #[arg(long, value_name = "N")]
    pub ntasks: Option<u32>,
    /// Threads per process
    #[arg(long, value_name = "N")]
    pub cpus: Option<u32>,
    /// Memory, like 4G or 500M
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Time limit, as SLURM reads it: 30 (minutes), 30:00, 1:00:00, 1-12
    #[arg(long, value_name = "TIME")]
    pub walltime: Option<String>,
    /// What a scheduler needs beside that.
    #[command(flatten)]
    pub scheduler: SchedulerArgs,
}

/// What only a cluster with a scheduler has.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "On a cluster with SLURM")]
pub struct SchedulerArgs {
    /// Nodes
    #[arg(long, value_name = "N")]
    pub nodes: Option<u32>,
    /// Processes on each node; without --ntasks so many on every one
    #[arg(long, value_name = "N")]
    pub ntasks_per_node: Option<u32>,
    /// A job array: 1-20, 1-20%4 (four at once), 0-20:5 or 1,3,7
    #[arg(long, value_name = "TASKS")]
    pub array: Option<String>,
    /// Partition; the cluster's when left out
    #[arg(long, value_name = "PARTITION")]
    pub partition: Option<String>,
    /// Account; the cluster's when left out
    #[arg(long, value_name = "ACCOUNT")]
    pub account: Option<String>,
    /// QOS; the cluster's when left out
    #[arg(long, value_name = "QOS")]
    pub qos: Option<String>,
    /// GPUs of each node: 2, or a100:2
    #[arg(long, value_name = "GPUS")]
    pub gpus: Option<String>,
    /// Memory for each core instead of each node, like 2G
    #[arg(long, value_name = "SIZE", conflicts_with = "memory")]
    pub memory_per_cpu: Option<String>,
    /// What the nodes must have
    #[arg(long, value_name = "FEATURES")]
    pub constraint: Option<String>,
    /// Whole nodes
    #[arg(long)]
    pub exclusive: bool,
    /// Not before this time, as sbatch takes it: now+1hour
    #[arg(long, value_name = "TIME")]
    pub begin: Option<String>,
    /// A further option of sbatch, like --sbatch=--mail-type=END; repeat for more
    #[arg(long = "sbatch", value_name = "OPTION", allow_hyphen_values = true)]
    pub extra: Vec<String>,
}

impl SchedulerArgs {
    fn fill(&self, given: &mut Given) {
        given.put("nodes", self.nodes.map(Value::from));
        given.put("ntasks_per_node", self.ntasks_per_node.map(Value::from));
        given.text("array", self.array.as_ref());
        given.text("partition", self.partition.as_ref());
        given.text("account", self.account.as_ref());
        given.text("qos", self.qos.as_ref());
        given.text("gpus", self.gpus.as_ref());
        given.text("memory_per_cpu_mib", self.memory_per_cpu.as_ref());
        given.text("constraint", self.constraint.as_ref());
        given.put("exclusive", self.exclusive.then_some(Value::Bool(true)));
        given.text("begin", self.begin.as_ref());
        given.list("extra", &self.extra);
    }
}

impl ResourceArgs {
    /// The `resources` of a submission; `None` when nothing was asked for.
    #[must_use]
    pub fn params(&self) -> Option<Value> {
        let mut given = Given::default();
        given.put("ntasks", self.ntasks.map(Value::from));
        given.put("cpus_per_task", self.cpus.map(Value::from));
        given.put("memory_mib", self.memory.clone().map(Value::from));
        given.put("walltime_s", self.walltime.clone().map(Value::from));
        self.scheduler.fill(&mut given);
        given.some()
    }
}

/// Params of which only those that the user gave are sent, so that the daemon's defaults apply.
#[derive(Debug, Default)]
pub struct Given(Map<String, Value>);

impl Given {
    /// Add a member, if it was given.
    pub fn put(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// Add a text, if it was given.
    pub fn text(&mut self, name: &str, text: Option<&String>) {
        self.put(name, text.map(|text| json!(text)));
    }

    /// Add a list, if it has members.
    pub fn list(&mut self, name: &str, items: &[impl serde::Serialize]) {
        self.put(name, (!items.is_empty()).then(|| json!(items)));
    }

    /// Add a member at a path: `spin.lock_cycles` lies in `spin`.
    ///
    /// # Errors
    /// It is given already, or what it would lie in is given as something else.
    pub fn put_at(&mut self, path: &str, value: Value) -> Result<(), Failure> {
        let mut at = &mut self.0;
        let mut parts = path.split('.');
        let last = parts.next_back().unwrap_or(path);
        for part in parts {
            let inner = at.entry(part).or_insert_with(|| json!({}));
            at = inner.as_object_mut().ok_or_else(|| {
                Failure::usage(
                    format!("{path} lies in {part}, which is given as something else"),
                    "give the parts of it, or all of it as JSON",
                )
            })?;
        }
        match at.insert(last.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(Failure::usage(
                format!("{path} is given twice"),
                "leave one of them out",
            )),
        }
    }

    /// The params, if there are any.
    #[must_use]
    pub fn some(self) -> Option<Value> {
        (!self.0.is_empty()).then_some(Value::Object(self.0))
    }

    /// The params.
    #[must_use]
    pub fn object(self) -> Value {
        Value::Object(self.0)
    }
}

/// An object with options in it; a dot in a name goes into an object that it holds.
///
/// # Errors
/// An option is given twice, or lies in what is given as something else.
pub fn with_options(
    object: Map<String, Value>,
    options: &[(String, Value)],
) -> Result<Map<String, Value>, Failure> {
    let mut given = Given(object);
    for (path, value) in options {
        given.put_at(path, value.clone())?;
    }
    Ok(given.0)
}

/// A finite number: JSON has no other, and would lose it without a word.
pub(super) fn finite(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .trim()
        .parse()
        .map_err(|_| "it is no number".to_owned())?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err("it has to be a finite number".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{finite, with_options};

    #[test]
    fn options_go_where_their_names_say() {
        let given = [
            ("ecutwfc_ry".to_owned(), json!(18)),
            ("pseudos.Si".to_owned(), json!("Si.pz-vbc.UPF")),
        ];
        assert_eq!(
            with_options(Map::new(), &given).map(Value::Object).ok(),
            Some(json!({"ecutwfc_ry": 18, "pseudos": {"Si": "Si.pz-vbc.UPF"}}))
        );
        let again = Map::from_iter([("ecutwfc_ry".to_owned(), json!(20))]);
        assert!(with_options(again, &given).is_err());
    }

    #[test]
    fn only_finite_numbers_go_over_the_wire() {
        assert_eq!(finite(" 1e-3"), Ok(1e-3));
        for text in ["nan", "inf", "-inf", "1e999", "one", ""] {
            assert!(finite(text).is_err(), "{text}");
        }
    }
}
