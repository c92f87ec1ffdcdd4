//! The same service functions, called in this process and over the socket of a daemon.
//!
//! `bench-pyo3 calls|frames PEER [LOAD]`, where PEER is `socket:PATH`, `embedded:DATA_DIR` or
//! `worker:DATA_DIR`. The first line on standard output says that the first page of the job list is
//! there; the last one is JSON with what was measured, in µs. Called by `bench/pyo3.py`.

mod calls;
mod frames;
mod peer;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;

use peer::Peer;

/// What can go wrong here ends the run, with its text.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-pyo3: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (what, whom, load) = match &arguments[..] {
        [what, whom] => (what.as_str(), whom, None),
        [what, whom, load] => (what.as_str(), whom, Some(load.as_str())),
        _ => return Err("usage: bench-pyo3 calls|frames PEER [LOAD]".into()),
    };
    let mut peer = Peer::open(whom)?;
    peer.call("jobs.list", &json!({"limit": 200}))?;
    println!("first page");
    std::io::stdout().flush()?;
    let found = match what {
        "calls" => calls::measure(&mut peer)?,
        "frames" => frames::measure(peer, load)?,
        other => return Err(format!("there is no {other}").into()),
    };
    println!("{found}");
    Ok(())
}
