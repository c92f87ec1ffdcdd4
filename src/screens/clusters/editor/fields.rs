//! The fields of the form, what each takes, and how values are written in them.

use serde_json::Value;

use crate::clusters::budget;
use crate::rpc::types::ClusterView;
use crate::screens::new_job::schema::{self, Kind, quoted};
use crate::widgets::input::TextLine;

/// One field.
#[derive(Debug)]
pub struct Field {
    /// Its name on the wire.
    pub key: &'static str,
    /// Heading under which it stands.
    pub section: &'static str,
    /// The name as people read it.
    pub label: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What applies when nothing is written; empty when nothing does.
    pub default: &'static str,
    /// What it is, in a sentence or two.
    pub help: &'static str,
    /// What is written.
    pub input: TextLine,
    /// What stood there at first.
    pub before: String,
}

fn choice(words: &[&str]) -> Kind {
    Kind::Choice(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Every field, empty.
pub(super) fn all() -> Vec<Field> {
    let mut section = "";
    let table = [access(), work(), limits()];
    let rows = table.into_iter().flat_map(|(name, rows)| {
        section = name;
        rows.into_iter().map(move |row| (section, row))
    });
    let fields = rows.map(|(section, (key, label, kind, default, help))| Field {
        key,
        section,
        label,
        // A choice always has a word.
        input: TextLine::of(if matches!(kind, Kind::Choice(_)) {
            default
        } else {
            ""
        }),
        before: String::new(),
        kind,
        default,
        help,
    });
    fields.collect()
}

type Row = (&'static str, &'static str, Kind, &'static str, &'static str);

fn access() -> (&'static str, Vec<Row>) {
    let rows = vec![
        (
            "name",
            "name",
            Kind::Text,
            "",
            "Name of the cluster, for people; up to 50 characters.",
        ),
        (
            "kind",
            "kind",
            choice(&["slurm", "ssh"]),
            "slurm",
            "A host with SLURM, or one without a scheduler.",
        ),
        (
            "hostname",
            "host",
            Kind::Text,
            "",
            "Host name, address, or a name of ssh's configuration. localhost without port, user and \
             key is this machine itself.",
        ),
        (
            "username",
            "user",
            Kind::Text,
            "as ssh decides",
            "Empty: that of ssh's configuration.",
        ),
        (
            "port",
            "port",
            Kind::Integer,
            "as ssh decides",
            "Empty: that of ssh's configuration.",
        ),
        (
            "key_file",
            "key file",
            Kind::Text,
            "as ssh decides",
            "A private key on this machine. A password is never kept.",
        ),
        (
            "proxy_jump",
            "through",
            Kind::Text,
            "as ssh decides",
            "Hosts to go through, separated by commas.",
        ),
        (
            "shell",
            "connection",
            choice(&["auto", "paramiko", "openssh"]),
            "auto",
            "How the connection is made; openssh for second factors, Kerberos and hardware keys.",
        ),
    ];
    ("Access", rows)
}

fn work() -> (&'static str, Vec<Row>) {
    let rows = vec![
        (
            "remote_workdir",
            "directory",
            Kind::Text,
            "",
            "Where job directories are made: absolute, ~/…, or with $VAR, which is expanded there.",
        ),
        (
            "queue_name",
            "partition",
            Kind::Text,
            "",
            "Partition of jobs that name none.",
        ),
        (
            "account",
            "account",
            Kind::Text,
            "",
            "Account of jobs that name none.",
        ),
        ("qos", "qos", Kind::Text, "", "QOS of jobs that name none."),
        (
            "slurm_cluster",
            "sbatch -M",
            Kind::Text,
            "",
            "Where a site has several clusters, the one that is meant.",
        ),
        (
            "setup_commands",
            "setup",
            Kind::Words,
            "",
            "Lines before every job, each in quotes: 'module load qe' 'ulimit -s unlimited'.",
        ),
        (
            "launcher",
            "launcher",
            Kind::Text,
            "srun",
            "What starts several processes: srun, mpirun, or a text with {n} for their number.",
        ),
        (
            "codes",
            "codes",
            Kind::Pairs,
            "",
            "Where programs are there: espresso=/opt/qe/bin/pw.x",
        ),
    ];
    ("Jobs", rows)
}

fn limits() -> (&'static str, Vec<Row>) {
    let budget = "So many at once, so many back each minute, as 30/10; or unlimited.";
    let rows = vec![
        (
            "max_concurrent",
            "jobs at a time",
            Kind::Integer,
            "no limit; 4 without a scheduler",
            "Jobs handed over at a time.",
        ),
        (
            "min_poll_s",
            "ask every",
            Kind::Number,
            "10",
            "Seconds: the scheduler is never asked more often.",
        ),
        (
            "max_retrieve_mib",
            "fetch up to",
            Kind::Integer,
            "1024",
            "MiB; larger files stay on the cluster.",
        ),
        ("query_budget", "questions", Kind::Text, "30/10", budget),
        ("submit_budget", "submissions", Kind::Text, "100/30", budget),
    ];
    ("Limits", rows)
}

/// What a field says of a cluster.
pub(super) fn written(key: &str, cluster: &ClusterView) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let number = |number: Option<i64>| number.map(|n| n.to_string()).unwrap_or_default();
    match key {
        "name" => cluster.name.clone(),
        "kind" => cluster.kind.to_string(),
        "hostname" => cluster.hostname.clone(),
        "username" => text(&cluster.username),
        "port" => number(cluster.port),
        "key_file" => text(&cluster.key_file),
        "proxy_jump" => text(&cluster.proxy_jump),
        "shell" => cluster.shell.clone(),
        "remote_workdir" => cluster.remote_workdir.clone(),
        "queue_name" => text(&cluster.queue_name),
        "account" => text(&cluster.account),
        "qos" => text(&cluster.qos),
        "slurm_cluster" => text(&cluster.slurm_cluster),
        "setup_commands" => {
            let lines = cluster.setup_commands.iter();
            lines.map(|line| quoted(line)).collect::<Vec<_>>().join(" ")
        }
        "launcher" => cluster.launcher.clone(),
        "codes" => {
            let codes = cluster.codes.iter();
            let codes = codes.map(|(code, path)| quoted(&format!("{code}={path}")));
            codes.collect::<Vec<_>>().join(" ")
        }
        "max_concurrent" => number(cluster.max_concurrent),
        "min_poll_s" => cluster.min_poll_s.to_string(),
        "max_retrieve_mib" => cluster.max_retrieve_mib.to_string(),
        "query_budget" => budget_text(cluster.query_budget.as_ref()),
        "submit_budget" => budget_text(cluster.submit_budget.as_ref()),
        _ => String::new(),
    }
}

fn budget_text(budget: Option<&std::collections::BTreeMap<String, i64>>) -> String {
    let Some(budget) = budget else {
        return "unlimited".into();
    };
    let number = |name: &str| budget.get(name).copied().unwrap_or_default();
    format!("{}/{}", number("size"), number("refill_per_min"))
}

/// The value that a field stands for; null where nothing is written.
pub(super) fn value(field: &Field) -> Result<Value, String> {
    let text = field.input.text().trim();
    if field.key.ends_with("_budget") && !text.is_empty() {
        return budget(text);
    }
    Ok(schema::value(&field.kind, text)?.unwrap_or(Value::Null))
}
