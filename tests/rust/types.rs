//! The generated types against the golden vectors that the daemon's models are tested against too.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crystalmath::rpc::types::{Call, CallVisitor, every_call};
use crystalmath::rpc::{METHODS, SCHEMA_SHA256, method};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden")
}

fn again<T: Serialize + DeserializeOwned>(value: &Value, what: &str) {
    let read: T = serde_json::from_value(value.clone())
        .unwrap_or_else(|error| panic!("{what} does not fit its type: {error}"));
    assert_eq!(
        &serde_json::to_value(read).unwrap(),
        value,
        "{what} changes on the way"
    );
}

#[derive(Default)]
struct RoundTrips {
    methods: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
}

impl CallVisitor for RoundTrips {
    fn visit<C: Call>(&mut self) {
        let name = C::METHOD.trim_start_matches("$/");
        let path = golden().join(format!("{name}.json"));
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let vector: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(vector["method"], C::METHOD);
        for size in ["minimal", "full"] {
            let request = &vector["requests"][size];
            assert_eq!(request["method"], C::METHOD);
            again::<C::Params>(
                &request["params"],
                &format!("{size} params of {}", C::METHOD),
            );
            on_the_wire(request);
        }
        let result = &vector["response"]["result"];
        again::<C::Reply>(result, &format!("result of {}", C::METHOD));
        arrives(&vector["response"]);
        self.methods.insert(C::METHOD.to_owned());
        self.files.insert(path);
    }
}

#[cfg(feature = "ipc")]
fn on_the_wire(request: &Value) {
    use crystalmath::ipc::codec::encode_request;
    let name = request["method"].as_str().unwrap();
    let line = encode_request(request["id"].as_u64().unwrap(), name, &request["params"]).unwrap();
    assert_eq!(
        &serde_json::from_slice::<Value>(&line).unwrap(),
        request,
        "{name}"
    );
}

#[cfg(feature = "ipc")]
fn arrives(response: &Value) {
    use crystalmath::ipc::codec::{Incoming, parse};
    let id = response["id"].as_u64().unwrap();
    let outcome = Ok(response["result"].clone());
    assert_eq!(
        parse(response.to_string().as_bytes()),
        Incoming::Reply { id, outcome }
    );
}

#[cfg(not(feature = "ipc"))]
fn on_the_wire(_: &Value) {}

#[cfg(not(feature = "ipc"))]
fn arrives(_: &Value) {}

#[test]
fn every_golden_vector_survives_both_ways() {
    let mut trips = RoundTrips::default();
    every_call(&mut trips);
    let built = METHODS
        .iter()
        .filter(|info| !info.planned)
        .map(|info| info.name.to_owned());
    assert_eq!(
        trips.methods,
        built.collect::<BTreeSet<_>>(),
        "types and method table differ"
    );
    let found = std::fs::read_dir(golden())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    assert_eq!(
        trips.files,
        found.collect::<BTreeSet<_>>(),
        "vectors and types differ"
    );
}

struct Tolerance;

impl CallVisitor for Tolerance {
    fn visit<C: Call>(&mut self) {
        let empty: Result<C::Reply, _> = serde_json::from_value(json!({}));
        assert!(
            empty.is_ok(),
            "{}: missing members have no default",
            C::METHOD
        );
        let new = json!({"status": "ok", "a_member_of_tomorrow": [1]});
        let read: Result<C::Reply, _> = serde_json::from_value(new);
        assert!(read.is_ok(), "{}: an unknown member is refused", C::METHOD);
    }
}

#[test]
fn reading_takes_what_is_missing_and_what_is_new() {
    every_call(&mut Tolerance);
}

#[test]
fn the_method_table_is_sorted_and_complete() {
    assert!(
        METHODS.is_sorted_by_key(|info| info.name),
        "the look-up needs the order"
    );
    assert!(METHODS.iter().all(|info| info.deadline_s > 0.0));
    assert_eq!(SCHEMA_SHA256.len(), 64);
    assert_eq!(method("jobs.list").map(|info| info.read_only), Some(true));
    assert_eq!(
        method("jobs.submit").map(|info| info.read_only),
        Some(false)
    );
    assert_eq!(method("jobs.lis"), None);
}
