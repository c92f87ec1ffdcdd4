//! What a cluster is described by, as flags.

use serde_json::{Map, Value, json};

use crate::cli::params::{Given, finite};
use crate::clusters::budget;

/// The description of a cluster; there is no flag for a password.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct FieldArgs {
    /// What it is: a host with SLURM, or one without a scheduler
    #[arg(long, value_name = "KIND", value_parser = ["slurm", "ssh"])]
    pub kind: Option<String>,
    /// Port; that of ssh's configuration when left out
    #[arg(long, value_name = "PORT")]
    pub port: Option<i64>,
    /// User; that of ssh's configuration when left out
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// A private key on this machine
    #[arg(long, value_name = "PATH")]
    pub key: Option<String>,
    /// Hosts to go through, separated by commas
    #[arg(long, value_name = "HOSTS")]
    pub jump: Option<String>,
    /// How the connection is made
    #[arg(long, value_name = "SHELL", value_parser = ["auto", "paramiko", "openssh"])]
    pub shell: Option<String>,
    /// Partition of jobs that name none
    #[arg(long, value_name = "PARTITION")]
    pub partition: Option<String>,
    /// Account of jobs that name none
    #[arg(long, value_name = "ACCOUNT")]
    pub account: Option<String>,
    /// QOS of jobs that name none
    #[arg(long, value_name = "QOS")]
    pub qos: Option<String>,
    /// Which of a site's clusters, as for sbatch -M
    #[arg(long, value_name = "NAME")]
    pub slurm_cluster: Option<String>,
    /// Hand over so many jobs at a time
    #[arg(long, value_name = "N")]
    pub max_jobs: Option<i64>,
    /// Ask the scheduler at most every so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = finite)]
    pub min_poll: Option<f64>,
    /// Leave larger files on the cluster, in MiB
    #[arg(long, value_name = "MIB")]
    pub max_fetch: Option<i64>,
    /// Questions to the scheduler: so many at once, so many back each minute; or unlimited
    #[arg(long, value_name = "N/MINUTE", value_parser = budget)]
    pub queries: Option<Value>,
    /// Submissions: so many at once, so many back each minute; or unlimited
    #[arg(long, value_name = "N/MINUTE", value_parser = budget)]
    pub submissions: Option<Value>,
    /// A line before every job, like `module load …`; repeat for more
    #[arg(long, value_name = "LINE")]
    pub setup: Vec<String>,
    /// What starts several processes: srun, mpirun, or a text with {n}
    #[arg(long, value_name = "LAUNCHER")]
    pub launcher: Option<String>,
    /// Where a code's program is on the cluster; repeat for more
    #[arg(long = "code", value_name = "CODE=PATH", value_parser = code)]
    pub codes: Vec<(String, String)>,
}

fn code(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((code, path)) if !code.is_empty() && !path.is_empty() => {
            Ok((code.to_owned(), path.to_owned()))
        }
        _ => Err("write it as CODE=PATH".to_owned()),
    }
}

impl FieldArgs {
    /// Add what was given. `codes` are those that are there already.
    pub(super) fn fill(&self, given: &mut Given, codes: Map<String, Value>) {
        given.text("kind", self.kind.as_ref());
        given.put("port", self.port.map(Value::from));
        given.text("username", self.user.as_ref());
        given.text("key_file", self.key.as_ref());
        given.text("proxy_jump", self.jump.as_ref());
        given.text("shell", self.shell.as_ref());
        given.text("queue_name", self.partition.as_ref());
        given.text("account", self.account.as_ref());
        given.text("qos", self.qos.as_ref());
        given.text("slurm_cluster", self.slurm_cluster.as_ref());
        given.put("max_concurrent", self.max_jobs.map(Value::from));
        given.put("min_poll_s", self.min_poll.map(Value::from));
        given.put("max_retrieve_mib", self.max_fetch.map(Value::from));
        given.put("query_budget", self.queries.clone());
        given.put("submit_budget", self.submissions.clone());
        given.list("setup_commands", &self.setup);
        given.text("launcher", self.launcher.as_ref());
        if !self.codes.is_empty() {
            let mut all = codes;
            let named = self.codes.iter();
            all.extend(named.map(|(code, path)| (code.clone(), json!(path))));
            given.put("codes", Some(Value::Object(all)));
        }
    }
}

/// The fields that can be made empty, by the names of their flags.
pub(super) const CLEARED: [(&str, &str); 13] = [
    ("port", "port"),
    ("user", "username"),
    ("key", "key_file"),
    ("jump", "proxy_jump"),
    ("partition", "queue_name"),
    ("account", "account"),
    ("qos", "qos"),
    ("slurm-cluster", "slurm_cluster"),
    ("max-jobs", "max_concurrent"),
    ("setup", "setup_commands"),
    ("code", "codes"),
    ("queries", "query_budget"),
    ("submissions", "submit_budget"),
];

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn codes_are_a_name_and_a_path() {
        assert_eq!(code("pw=/a=b"), Ok(("pw".into(), "/a=b".into())));
        assert!(code("pw=").is_err() && code("=x").is_err());
    }
}
