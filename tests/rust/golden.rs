//! Every golden vector, decoded into the generated types and encoded again, is the same JSON value.
//!
//! The vectors are made by the Python side of the contract; `tests/contract` does the same there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crystalmath::rpc::types::{
    BridgeRequest, Call, CallVisitor, Event, EventsNotify, FileEntryKind, JobSummary, METHODS,
    Reply, SCHEMA_SHA256, every_call, method,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden")
}

fn vector(name: &str) -> Value {
    let path = folder().join(format!("{}.json", name.replace("$/", "")));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("a vector is JSON")
}

fn again<T: Serialize + DeserializeOwned>(what: &str, value: &Value) -> Value {
    let decoded: T =
        serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{what}: {e}"));
    serde_json::to_value(decoded).expect("what was read can be written")
}

#[derive(Default)]
struct RoundTrip {
    seen: BTreeSet<String>,
}

impl CallVisitor for RoundTrip {
    fn visit<C: Call>(&mut self) {
        let vector = vector(C::METHOD);
        assert_eq!(vector["method"], C::METHOD);
        for form in ["minimal", "full"] {
            let params = &vector["requests"][form]["params"];
            assert_eq!(
                &again::<C::Params>(C::METHOD, params),
                params,
                "{} {form}",
                C::METHOD
            );
        }
        let result = &vector["response"]["result"];
        assert_eq!(
            &again::<C::Reply>(C::METHOD, result),
            result,
            "{} result",
            C::METHOD
        );
        self.seen.insert(C::METHOD.to_owned());
    }
}

#[test]
fn every_vector_round_trips() {
    let mut visitor = RoundTrip::default();
    every_call(&mut visitor);
    let built: BTreeSet<String> = METHODS
        .iter()
        .filter(|info| !info.planned)
        .map(|info| info.name.to_owned())
        .collect();
    assert_eq!(visitor.seen, built);
    assert_eq!(
        fs::read_dir(folder()).unwrap().count(),
        built.len(),
        "a vector without a method"
    );
}

#[test]
fn every_notification_round_trips() {
    let path = folder()
        .with_file_name("notifications")
        .join("events.notify.json");
    let message: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(message["method"], "events.notify");
    assert_eq!(
        again::<EventsNotify>("events.notify", &message["params"]),
        message["params"]
    );
}

#[test]
fn a_kind_of_tomorrow_is_no_error() {
    let notify: EventsNotify = serde_json::from_value(json!({
        "subscription": 1, "seq": 2,
        "events": [{"kind": "meltdown", "where": "here"}, {"kind": "job", "job": {"id": 7}}],
    }))
    .unwrap();
    assert_eq!(notify.events[0], Event::Other);
    let Event::Job(changed) = &notify.events[1] else {
        panic!("{notify:?}")
    };
    assert_eq!(changed.job.id, 7);
}

#[test]
fn methods_are_sorted_and_found() {
    assert!(METHODS.windows(2).all(|pair| pair[0].name < pair[1].name));
    for info in METHODS {
        assert_eq!(method(info.name), Some(info));
        assert!(info.deadline_s > 0.0, "{}", info.name);
    }
    assert_eq!(method("jobs.nothing"), None);
}

#[test]
fn requests_of_the_ui_are_in_the_contract() {
    assert_eq!(BridgeRequest::ALL.len(), 25);
    for request in BridgeRequest::ALL {
        assert!(method(request.method()).is_some(), "{request:?}");
    }
}

#[test]
fn reading_is_tolerant() {
    let reply: Reply<JobSummary> = serde_json::from_value(json!({
        "status": "ok",
        "data": {"id": 9_007_199_254_740_993_i64, "state": "FROZEN", "new_member": [1]},
        "new_member": null,
    }))
    .unwrap();
    assert_eq!(reply.data.id, 9_007_199_254_740_993);
    assert_eq!(reply.data.state.as_str(), "FROZEN");
    assert_eq!(reply.data.name, "");
}

struct Tolerance;

impl CallVisitor for Tolerance {
    fn visit<C: Call>(&mut self) {
        for reply in [
            json!({}),
            json!({"status": "ok", "a_member_of_tomorrow": [1]}),
        ] {
            let read: Result<C::Reply, _> = serde_json::from_value(reply.clone());
            assert!(read.is_ok(), "{} refuses {reply}", C::METHOD);
        }
    }
}

#[test]
fn every_reply_takes_what_is_missing_and_what_is_new() {
    every_call(&mut Tolerance);
}

#[test]
fn words_are_written_as_they_are_read() {
    for word in FileEntryKind::ALL {
        assert_eq!(&FileEntryKind::from(word.as_str()), word);
        assert_eq!(serde_json::to_value(word).unwrap(), word.to_string());
    }
}

#[test]
fn the_hash_is_a_sha256() {
    assert_eq!(SCHEMA_SHA256.len(), 64);
    assert!(SCHEMA_SHA256.bytes().all(|b| b.is_ascii_hexdigit()));
}
