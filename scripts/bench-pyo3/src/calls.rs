//! Single calls, one after the other.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::peer::Peer;

const JOBS: usize = 10_000;
/// A job whose directory is there.
const WITH_FILES: i64 = 5_000;
const PINGS: usize = 1_000;
const GETS: usize = 100;
const PAGES: usize = 40;
const BIG_PAGES: usize = 10;
const WHOLES: usize = 2;

pub fn measure(peer: &mut Peer) -> Outcome<Value> {
    let mut rows = Map::new();
    let calls = [
        ("system.ping", "system.ping", json!({}), PINGS),
        ("jobs.get", "jobs.get", json!({"id": WITH_FILES}), GETS),
        ("jobs.list, 200", "jobs.list", json!({"limit": 200}), PAGES),
        (
            "jobs.list, 1,000",
            "jobs.list",
            json!({"limit": 1000}),
            BIG_PAGES,
        ),
    ];
    for (name, method, params, count) in calls {
        peer.call(method, &params)?;
        rows.insert(
            name.into(),
            timed(count, || peer.call(method, &params).map(drop))?,
        );
    }
    rows.insert(
        "jobs.list, 10,000 in pages".into(),
        timed(WHOLES, || whole(peer))?,
    );
    Ok(json!({"rows": rows, "resident_kb": resident_kb()?}))
}

fn whole(peer: &mut Peer) -> Outcome<()> {
    let (mut after, mut count) = (Value::Null, 0);
    loop {
        let page = peer.call("jobs.list", &json!({"limit": 1000, "after": after}))?;
        count += page["data"].as_array().map_or(0, Vec::len);
        after = page["meta"]["next"].clone();
        if after.is_null() {
            break;
        }
    }
    if count == JOBS {
        Ok(())
    } else {
        Err(format!("{count} rows came instead of {JOBS}").into())
    }
}

fn timed(count: usize, mut action: impl FnMut() -> Outcome<()>) -> Outcome<Value> {
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        let begin = Instant::now();
        action()?;
        samples.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    Ok(samples.into())
}

fn resident_kb() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("the system tells no size")?.parse()?)
}
