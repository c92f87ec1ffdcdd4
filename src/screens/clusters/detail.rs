//! Everything that is known of the cluster with the cursor, in lines.

use super::Clusters;
use super::view::look;
use crate::clusters::{self, Verdict};
use crate::rpc::types::{ClusterReport, ClusterView};
use crate::screens::job::time_text;
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role};
use crate::widgets::facts::{Fact, Facts};
use crate::widgets::text;

/// The lines about what the cursor is on; none where there is nothing.
pub(super) fn lines(screen: &Clusters, now: f64, glyphs: &Glyphs) -> Vec<Fact> {
    let mut lines = Facts::default();
    if let Some(cluster) = screen.current() {
        state(&mut lines, cluster, now, glyphs);
        lines.gap();
        tried(&mut lines, screen, cluster, now, glyphs);
        lines.gap();
        description(&mut lines, cluster);
    }
    lines.0
}

fn state(lines: &mut Facts, cluster: &ClusterView, now: f64, glyphs: &Glyphs) {
    let (word, verdict) = clusters::health(cluster);
    let (mark, role) = look(verdict, glyphs);
    lines.add("health", format!("{mark} {word}"), role);
    let trouble = cluster.last_error.as_deref();
    lines.some("trouble", trouble.map(speak), Role::Bad);
    let since = cluster.unreachable_since.as_deref();
    lines.some("since", since.map(time_text), Role::Text);
    let age = clusters::age_s(cluster, now);
    let age = age.map(|age| format!("{} ago", text::age(age)));
    lines.some("asked", age, Role::Text);
}

fn tried(lines: &mut Facts, screen: &Clusters, cluster: &ClusterView, now: f64, glyphs: &Glyphs) {
    if let Some(since) = screen.testing.get(&cluster.id) {
        let words = format!(
            "{} for {}",
            glyphs.running,
            text::so_far((now - since).max(0.0))
        );
        lines.add("trying", words, Role::Running);
    }
    match screen.report(cluster) {
        None => lines.add("test", "it was never tried", Role::Dim),
        Some(Err(error)) => lines.add("test", error, Role::Bad),
        Some(Ok(found)) => report(lines, found, glyphs),
    }
}

/// What a try found, part by part; what is wrong comes first.
fn report(lines: &mut Facts, found: &ClusterReport, glyphs: &Glyphs) {
    for problem in &found.problems {
        let words = format!("{} {}", glyphs.attention, speak(&problem.what));
        lines.add("problem", words, Role::Bad);
        lines.some("", problem.hint.as_deref().map(speak), Role::Text);
    }
    for part in clusters::report(found) {
        let (mark, role) = look(part.verdict, glyphs);
        let words = match part.verdict {
            Verdict::Plain => part.said,
            _ => format!("{mark} {}", part.said),
        };
        lines.add(part.name, words, role);
    }
}

fn description(lines: &mut Facts, cluster: &ClusterView) {
    let text = |text: &Option<String>| text.clone();
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    lines.add("kind", cluster.kind.as_str(), Role::Text);
    lines.add("host", cluster.hostname.clone(), Role::Text);
    let user = cluster.username.as_deref();
    lines.add("user", user.unwrap_or("as ssh decides"), Role::Text);
    lines.some("port", number(cluster.port), Role::Text);
    lines.some("key file", text(&cluster.key_file), Role::Text);
    lines.some("through", text(&cluster.proxy_jump), Role::Text);
    lines.add("connection", cluster.shell.clone(), Role::Text);
    lines.add("directory", cluster.remote_workdir.clone(), Role::Text);
    lines.some("partition", text(&cluster.queue_name), Role::Text);
    lines.some("account", text(&cluster.account), Role::Text);
    lines.some("qos", text(&cluster.qos), Role::Text);
    lines.some("sbatch -M", text(&cluster.slurm_cluster), Role::Text);
    let most = number(cluster.max_concurrent);
    lines.add(
        "at a time",
        most.unwrap_or_else(|| "no limit".into()),
        Role::Text,
    );
    let poll = format!("every {} s at most", cluster.min_poll_s);
    lines.add("asked", poll, Role::Text);
    let fetched = format!("files up to {} MiB", cluster.max_retrieve_mib);
    lines.add("fetched", fetched, Role::Text);
    lines.add("launcher", cluster.launcher.clone(), Role::Text);
    for (index, command) in cluster.setup_commands.iter().enumerate() {
        let name = if index == 0 { "setup" } else { "" };
        lines.add(name, command.clone(), Role::Text);
    }
    for (index, (code, path)) in cluster.codes.iter().enumerate() {
        let name = if index == 0 { "codes" } else { "" };
        lines.add(name, format!("{code} {path}"), Role::Text);
    }
}
