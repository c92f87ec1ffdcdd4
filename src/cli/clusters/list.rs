//! What there is: the list, and one cluster in full.

use crate::cli::output::Outcome;
use crate::cli::results::field;
use crate::cli::session::Session;
use crate::cli::table::{Cell, Column, cell, render};
use crate::cli::text::{self, time};
use crate::cli::wording::{self, Commands};
use crate::clusters::{self, Verdict};
use crate::rpc::types::{ClusterIdParams, ClusterView, NoParams, calls};
use crate::runtime::unix_now;
use crate::widgets::text::age;

/// One cluster.
#[derive(Debug, Clone, clap::Args)]
pub struct OneArgs {
    /// Name of the cluster
    #[arg(value_name = "CLUSTER")]
    pub cluster: String,
}

impl OneArgs {
    pub(super) fn params(&self) -> ClusterIdParams {
        ClusterIdParams {
            id: self.cluster.clone().into(),
        }
    }
}

pub(super) fn run(session: &Session) -> Outcome {
    let answer = session.call::<calls::ClustersList>(&NoParams {})?;
    session.print(&answer.raw, || {
        if answer.read.data.is_empty() {
            return "no clusters; describe one with: crystalmath clusters add --help".to_owned();
        }
        let columns = [
            Column::left("CLUSTER", 20),
            Column::left("KIND", 5),
            Column::left("HOST", 24),
            Column::left("HEALTH", 11),
            Column::right("AGE", 5),
            Column::left("", 0),
        ];
        let now = unix_now();
        let rows: Vec<_> = answer.read.data.iter().map(|one| row(one, now)).collect();
        render(&columns, &rows, session.colour())
    })?;
    Ok(0)
}

fn row(cluster: &ClusterView, now: f64) -> Vec<Cell> {
    let (health, verdict) = clusters::health(cluster);
    let trouble = cluster.last_error.as_deref().unwrap_or_default();
    vec![
        cell(&*cluster.name),
        cell(cluster.kind.as_str()),
        cell(host(cluster)),
        (health.to_owned(), colour(verdict)),
        cell(clusters::age_s(cluster, now).map_or_else(|| "-".into(), age)),
        cell(speak(trouble)),
    ]
}

/// The host as one would write it for ssh.
fn host(cluster: &ClusterView) -> String {
    let user = cluster.username.as_ref();
    let user = user.map_or_else(String::new, |user| format!("{user}@"));
    let port = cluster.port;
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    format!("{user}{}{port}", cluster.hostname)
}

pub(super) fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "\x1b[32m",
        Verdict::Bad => "\x1b[31m",
        Verdict::Look => "\x1b[33m",
        Verdict::Plain => "",
    }
}

pub(super) fn show(session: &Session, args: &OneArgs) -> Outcome {
    let answer = session.call::<calls::ClustersGet>(&args.params())?;
    session.print(&answer.raw, || {
        describe(&answer.read.data, unix_now(), session.colour())
    })?;
    Ok(0)
}

/// Everything about one cluster.
pub(super) fn describe(cluster: &ClusterView, now: f64, wants_colour: bool) -> String {
    let (health, verdict) = clusters::health(cluster);
    let health = text::paint(health, colour(verdict), wants_colour);
    let mut lines = vec![format!("cluster {} {}: {health}", cluster.id, cluster.name)];
    let trouble = cluster.last_error.as_ref();
    lines.extend(trouble.map(|said| field("trouble", &speak(said))));
    let since = cluster.unreachable_since.as_deref();
    lines.extend(since.map(|since| field("since", &time(since))));
    let polled = cluster.polled_at.as_deref().map(time);
    let polled = polled.zip(clusters::age_s(cluster, now));
    lines.extend(polled.map(|(at, old)| field("asked", &format!("{at}, {} ago", age(old)))));
    for (name, value) in settings(cluster) {
        lines.push(field(name, &value));
    }
    for (index, command) in cluster.setup_commands.iter().enumerate() {
        lines.push(field(if index == 0 { "setup" } else { "" }, command));
    }
    for (index, (code, path)) in cluster.codes.iter().enumerate() {
        let name = if index == 0 { "codes" } else { "" };
        lines.push(field(name, &format!("{code}: {path}")));
    }
    lines.join("\n")
}

fn speak(text: &str) -> String {
    wording::speak_of(Commands::Clusters, text, None)
}

fn settings(cluster: &ClusterView) -> Vec<(&'static str, String)> {
    let text = |text: &Option<String>| text.clone();
    let budget = |budget: &Option<std::collections::BTreeMap<String, i64>>| match budget {
        None => "unlimited".to_owned(),
        Some(budget) => {
            let number = |name: &str| budget.get(name).copied().unwrap_or_default();
            let (size, refill) = (number("size"), number("refill_per_min"));
            format!("{size} at once, {refill} back each minute")
        }
    };
    let most = cluster.max_concurrent;
    let all = [
        ("kind", Some(cluster.kind.to_string())),
        ("host", Some(host(cluster))),
        ("key file", text(&cluster.key_file)),
        ("through", text(&cluster.proxy_jump)),
        ("connection", Some(cluster.shell.clone())),
        ("directory", Some(cluster.remote_workdir.clone())),
        ("partition", text(&cluster.queue_name)),
        ("account", text(&cluster.account)),
        ("qos", text(&cluster.qos)),
        ("slurm cluster", text(&cluster.slurm_cluster)),
        (
            "jobs at a time",
            Some(most.map_or_else(|| "no limit".into(), |most| most.to_string())),
        ),
        (
            "asked at most",
            Some(format!("every {} s", cluster.min_poll_s)),
        ),
        (
            "fetched",
            Some(format!("files up to {} MiB", cluster.max_retrieve_mib)),
        ),
        ("questions", Some(budget(&cluster.query_budget))),
        ("submissions", Some(budget(&cluster.submit_budget))),
        ("launcher", Some(cluster.launcher.clone())),
    ];
    let given = all.into_iter();
    given
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}
