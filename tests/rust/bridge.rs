//! The interface of the terminal UI: each function sends its own method, once, and returns at once.

use std::collections::HashMap;
use std::sync::mpsc;

use crystalmath::error::{IpcError, Result};
use crystalmath::rpc::{BridgeReply, BridgeRequest, BridgeService, MemoryBridge, method};
use serde_json::{Value, json};

/// Calls every function, in the order of the record, with its index as number.
pub fn ask_everything(bridge: &impl BridgeService) -> Result<()> {
    let given = |n: usize| json!({"n": n});
    bridge.request_fetch_jobs(0)?;
    bridge.request_fetch_job_details(1, given(1))?;
    bridge.request_submit_job(2, given(2))?;
    bridge.request_cancel_job(3, given(3))?;
    bridge.request_fetch_job_log(4, given(4))?;
    bridge.request_search_materials(5, given(5))?;
    bridge.request_generate_d12(6, given(6))?;
    bridge.request_fetch_slurm_queue(7, given(7))?;
    bridge.request_cancel_slurm_job(8, given(8))?;
    bridge.request_adopt_slurm_job(9, given(9))?;
    bridge.request_sync_remote_jobs(10, given(10))?;
    bridge.request_fetch_templates(11)?;
    bridge.request_render_template(12, given(12))?;
    bridge.request_fetch_clusters(13)?;
    bridge.request_fetch_cluster(14, given(14))?;
    bridge.request_create_cluster(15, given(15))?;
    bridge.request_update_cluster(16, given(16))?;
    bridge.request_delete_cluster(17, given(17))?;
    bridge.request_test_cluster_connection(18, given(18))?;
    bridge.request_check_workflows_available(19)?;
    bridge.request_create_convergence_study(20, given(20))?;
    bridge.request_create_band_structure(21, given(21))?;
    bridge.request_create_phonon(22, given(22))?;
    bridge.request_create_eos(23, given(23))?;
    bridge.request_launch_aiida(24, given(24))
}

/// The params that [`ask_everything`] gives to the function with this index.
pub fn params_of(index: usize) -> Value {
    if [0, 11, 13, 19].contains(&index) {
        json!({})
    } else {
        json!({"n": index})
    }
}

#[test]
fn from_memory_each_function_asks_its_method_once() {
    let (replies, answers) = mpsc::channel();
    let jobs = HashMap::from([(
        BridgeRequest::JobsList,
        Ok(json!({"status": "ok", "data": []})),
    )]);
    let bridge = MemoryBridge::new(jobs, replies);
    ask_everything(&bridge).unwrap();
    let asked: Vec<_> = bridge.asked();
    let wanted: Vec<_> = BridgeRequest::ALL
        .iter()
        .enumerate()
        .map(|(index, what)| (index, *what, params_of(index)))
        .collect();
    assert_eq!(asked, wanted);
    assert_eq!(asked.len(), 25);
    let answers: Vec<BridgeReply> = answers.try_iter().collect();
    assert_eq!(answers.len(), 25);
    assert_eq!(answers[0].result, Ok(json!({"status": "ok", "data": []})));
    assert!(
        matches!(answers[1].result, Err(IpcError::Protocol(_))),
        "no made-up answer"
    );
}

#[test]
fn every_request_of_the_record_is_in_the_method_table() {
    for what in BridgeRequest::ALL {
        assert!(method(what.method()).is_some(), "{}", what.method());
    }
}
