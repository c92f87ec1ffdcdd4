//! What is said of a cluster: how it does, and what its test has found, part by part. Pure; for the
//! command line and for the UI.

use serde_json::{Value, json};

use crate::rpc::types::{
    ClusterReport, ClusterView, ClusterViewStatus, ConnectionViewState, FoundCode, PartitionView,
    SchedulerView, ScratchView,
};
use crate::widgets::text;

/// How something is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is fine.
    Good,
    /// It is wrong.
    Bad,
    /// Somebody should look at it.
    Look,
    /// It is only said.
    Plain,
}

/// One part of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is about, in one or two words; empty where it goes on with the part before.
    pub name: &'static str,
    /// What is said.
    pub said: String,
    /// How it is to be taken.
    pub verdict: Verdict,
}

fn part(name: &'static str, said: impl Into<String>, verdict: Verdict) -> Part {
    Part {
        name,
        said: said.into(),
        verdict,
    }
}

/// How a cluster does, in a word or two.
#[must_use]
pub fn health(cluster: &ClusterView) -> (&'static str, Verdict) {
    let connection = cluster.connection.as_ref();
    if connection.is_some_and(|one| one.state == ConnectionViewState::NeedsUser) {
        return ("needs you", Verdict::Bad);
    }
    match (&cluster.status, &cluster.unreachable_since) {
        (_, Some(_)) => ("unreachable", Verdict::Bad),
        (ClusterViewStatus::Error, None) => ("error", Verdict::Bad),
        (ClusterViewStatus::Inactive, None) => ("never asked", Verdict::Plain),
        (ClusterViewStatus::Active, None) => ("active", Verdict::Good),
        (_, None) => ("?", Verdict::Look),
    }
}

/// How old what the scheduler said is, in seconds; `None` when it was never asked.
#[must_use]
pub fn age_s(cluster: &ClusterView, now: f64) -> Option<f64> {
    let polled = cluster.polled_at.as_deref().and_then(text::unix_time)?;
    Some((now - polled).max(0.0))
}

/// The report that the last test has left, if there was one.
#[must_use]
pub fn last_report(cluster: &ClusterView) -> Option<ClusterReport> {
    let probe = &cluster.probe;
    let kept = probe.contains_key("reachable");
    kept.then(|| serde_json::from_value(Value::Object(probe.clone())).ok())?
}

/// What a person writes for a budget: `30/10` for so many at once and so many back each minute, or
/// `unlimited`.
///
/// # Errors
///
/// How to write it.
pub fn budget(text: &str) -> Result<Value, String> {
    if text == "unlimited" {
        return Ok(Value::Null);
    }
    let numbers = text.split_once('/').and_then(|(size, refill)| {
        let size: i64 = size.trim().parse().ok()?;
        let refill: i64 = refill.trim().parse().ok()?;
        Some(json!({"size": size, "refill_per_min": refill}))
    });
    numbers.ok_or_else(|| "write it as 30/10, or unlimited".to_owned())
}

/// The partitions that the last test has found, each with its limits.
#[must_use]
pub fn partition_limits(cluster: &ClusterView) -> Vec<String> {
    let found = last_report(cluster).map(|report| report.partitions);
    let found = found.unwrap_or_default();
    found.iter().map(|one| partition(one, false).said).collect()
}

/// The key that a host offers and that is not known yet: its kind and its fingerprint.
#[must_use]
pub fn unknown_key(report: &ClusterReport) -> Option<(String, String)> {
    let key = report.host_key.as_ref().filter(|key| !key.known)?;
    let fingerprint = key.fingerprint.clone()?;
    Some((key.type_.clone().unwrap_or_default(), fingerprint))
}

/// What a test has found, in the order in which one looks for a fault.
#[must_use]
pub fn report(found: &ClusterReport) -> Vec<Part> {
    let mut parts = vec![reachable(found)];
    parts.extend(host_key(found));
    parts.extend(login(found));
    let shell = found.shell.as_ref();
    parts.extend(shell.map(|shell| part("shell", shell, Verdict::Plain)));
    let noise = found.noise.iter().enumerate().map(|(index, line)| {
        let name = if index == 0 { "noise" } else { "" };
        part(name, line, Verdict::Look)
    });
    parts.extend(noise);
    parts.extend(found.scheduler.as_ref().map(scheduler));
    let partitions = found.partitions.iter().enumerate();
    parts.extend(partitions.map(|(index, one)| partition(one, index == 0)));
    parts.extend(found.scratch.as_ref().map(scratch));
    let codes = found.codes.iter().enumerate();
    parts.extend(codes.map(|(index, one)| code(one, index == 0)));
    let clock = found.clock_offset_s;
    parts.extend(clock.map(|offset| part("clock", format!("{offset:+.1} s"), Verdict::Plain)));
    parts
}

fn reachable(found: &ClusterReport) -> Part {
    if !found.reachable {
        return part("reachable", "no", Verdict::Bad);
    }
    let latency = found.latency_ms;
    let latency = latency.map_or_else(String::new, |ms| format!(", one round trip {ms:.0} ms"));
    part("reachable", format!("yes{latency}"), Verdict::Good)
}

fn host_key(found: &ClusterReport) -> Option<Part> {
    let key = found.host_key.as_ref()?;
    let words = [key.type_.as_deref(), key.fingerprint.as_deref()];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    if words.is_empty() {
        return None;
    }
    let (known, verdict) = if key.known {
        ("known", Verdict::Good)
    } else {
        ("not known", Verdict::Bad)
    };
    Some(part(
        "host key",
        format!("{}, {known}", words.join(" ")),
        verdict,
    ))
}

fn login(found: &ClusterReport) -> Option<Part> {
    let value = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let items = items.iter().map(|item| match item {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            Some(items.collect::<Vec<_>>().join(" "))
        }
        other => Some(other.to_string()),
    };
    let user = found.user.as_ref().map(|user| format!("as {user}"));
    let how = found.auth.iter().filter_map(|(name, said)| {
        let said = value(said).filter(|said| !said.is_empty())?;
        Some(format!("{} {said}", name.replace('_', " ")))
    });
    let words: Vec<String> = user.into_iter().chain(how).collect();
    let verdict = if found.reachable {
        Verdict::Good
    } else {
        Verdict::Plain
    };
    (!words.is_empty()).then(|| part("login", words.join(", "), verdict))
}

fn scheduler(found: &SchedulerView) -> Part {
    let Some(name) = &found.name else {
        return part("scheduler", "none was found", Verdict::Look);
    };
    let version = found.version.as_deref().unwrap_or("of unknown version");
    let (accounting, verdict) = if found.accounting {
        ("accounting answers", Verdict::Good)
    } else {
        ("no accounting", Verdict::Look)
    };
    part(
        "scheduler",
        format!("{name} {version}, {accounting}"),
        verdict,
    )
}

fn partition(found: &PartitionView, first: bool) -> Part {
    let many = if found.nodes == 1 { "" } else { "s" };
    let mut words = vec![format!("{} node{many}", found.nodes)];
    words.extend(found.cpus_per_node.map(|cpus| format!("{cpus} cores each")));
    let memory = found
        .memory_mib_per_node
        .and_then(|mib| u64::try_from(mib).ok());
    words.extend(memory.map(|mib| text::bytes(mib.saturating_mul(1 << 20))));
    words.push(match found.max_walltime_s {
        Some(limit) => format!("at most {}", text::duration(limit)),
        None => "no time limit".into(),
    });
    if !found.available {
        words.push("takes no jobs".into());
    }
    let mark = if found.default { " *" } else { "" };
    let verdict = if found.available {
        Verdict::Plain
    } else {
        Verdict::Look
    };
    let name = if first { "partitions" } else { "" };
    let said = format!("{}{mark}: {}", found.name, words.join(", "));
    part(name, said, verdict)
}

fn scratch(found: &ScratchView) -> Part {
    let path = found.path.as_deref().unwrap_or("unknown");
    let free = found.free_bytes.and_then(|bytes| u64::try_from(bytes).ok());
    let free = free.map_or_else(String::new, |bytes| {
        format!(", {} free", text::bytes(bytes))
    });
    if found.writable {
        part(
            "directory",
            format!("{path}, writable{free}"),
            Verdict::Good,
        )
    } else {
        part(
            "directory",
            format!("{path}, not writable{free}"),
            Verdict::Bad,
        )
    }
}

fn code(found: &FoundCode, first: bool) -> Part {
    let name = if first { "codes" } else { "" };
    match &found.path {
        Some(path) => {
            let version = found.version.as_ref();
            let version =
                version.map_or_else(String::new, |version| format!(", version {version}"));
            part(
                name,
                format!("{}: {path}{version}", found.name),
                Verdict::Good,
            )
        }
        None => part(name, format!("{}: not found", found.name), Verdict::Look),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Verdict, budget, health, last_report, report, unknown_key};
    use crate::rpc::types::{ClusterReport, ClusterView};

    #[test]
    fn budgets_are_two_numbers_or_none_at_all() {
        let both = json!({"size": 30, "refill_per_min": 2});
        assert_eq!(budget("30/2"), Ok(both));
        assert_eq!(budget("unlimited"), Ok(Value::Null));
        for text in ["", "30", "30/", "/3", "a/b"] {
            assert!(budget(text).is_err(), "{text}");
        }
    }

    fn found() -> ClusterReport {
        serde_json::from_value(json!({
            "reachable": true, "latency_ms": 12.4, "user": "ada",
            "host_key": {"type": "ssh-ed25519", "fingerprint": "SHA256:abc", "known": false},
            "auth": {"method": "publickey", "offered": ["id_ed25519"], "none": null},
            "noise": ["Welcome", "to the machine"],
            "scheduler": {"name": "slurm", "version": "23.02.7", "accounting": false},
            "partitions": [
                {"name": "debug", "default": true, "available": true, "nodes": 3,
                 "max_walltime_s": 3600.0, "cpus_per_node": 8, "memory_mib_per_node": 16000},
                {"name": "long", "available": false, "nodes": 1},
            ],
            "scratch": {"path": "/scratch/ada", "writable": false, "free_bytes": 1_048_576},
            "codes": [{"name": "espresso", "path": "/opt/pw.x", "version": "7.2"}, {"name": "vasp"}],
            "clock_offset_s": -0.26,
        }))
        .unwrap_or_default()
    }

    #[test]
    fn every_part_is_said_with_its_verdict() {
        let said: Vec<String> = report(&found())
            .into_iter()
            .map(|part| format!("{}|{}|{:?}", part.name, part.said, part.verdict))
            .collect();
        assert_eq!(
            said,
            [
                "reachable|yes, one round trip 12 ms|Good",
                "host key|ssh-ed25519 SHA256:abc, not known|Bad",
                "login|as ada, method publickey, offered id_ed25519|Good",
                "noise|Welcome|Look",
                "|to the machine|Look",
                "scheduler|slurm 23.02.7, no accounting|Look",
                "partitions|debug *: 3 nodes, 8 cores each, 15.6 GiB, at most 1:00:00|Plain",
                "|long: 1 node, no time limit, takes no jobs|Look",
                "directory|/scratch/ada, not writable, 1.0 MiB free|Bad",
                "codes|espresso: /opt/pw.x, version 7.2|Good",
                "|vasp: not found|Look",
                "clock|-0.3 s|Plain",
            ]
        );
        let nothing = report(&ClusterReport::default());
        assert_eq!(nothing.len(), 1);
        assert_eq!(nothing[0].verdict, Verdict::Bad);
    }

    #[test]
    fn a_key_is_asked_about_only_while_it_is_not_known() {
        let mut report = found();
        let key = unknown_key(&report);
        assert_eq!(key, Some(("ssh-ed25519".into(), "SHA256:abc".into())));
        if let Some(key) = report.host_key.as_mut() {
            key.known = true;
        }
        assert_eq!(unknown_key(&report), None);
    }

    #[test]
    fn health_is_what_the_last_try_said() {
        let cluster = |row| serde_json::from_value::<ClusterView>(row).unwrap_or_default();
        for (row, words) in [
            (json!({"status": "inactive"}), "never asked"),
            (json!({"status": "active"}), "active"),
            (json!({"status": "error"}), "error"),
            (
                json!({"status": "error", "unreachable_since": "2026-01-06T12:00:00Z"}),
                "unreachable",
            ),
            (
                json!({"status": "error", "connection": {"state": "needs_user", "failures": 1}}),
                "needs you",
            ),
        ] {
            assert_eq!(health(&cluster(row)).0, words);
        }
        assert_eq!(last_report(&cluster(json!({"probe": {}}))), None);
        let tried = cluster(json!({"probe": {"reachable": true}}));
        assert!(last_report(&tried).is_some_and(|report| report.reachable));
    }
}
