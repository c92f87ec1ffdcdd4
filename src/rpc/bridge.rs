//! The interface between the terminal UI and the daemon: every function returns at once, and the
//! answer comes as a message. One function per row of the decision record's method table.

use serde_json::{Value, json};

use super::types::BridgeRequest;
use crate::error::Result;

/// The answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct BridgeReply {
    /// The number that the caller gave.
    pub request_id: usize,
    /// What was asked for.
    pub what: BridgeRequest,
    /// Its `result` object, or the error.
    pub result: Result<Value>,
}

macro_rules! bridge {
    ($($(#[$doc:meta])* $name:ident => $variant:ident $(, $params:ident)?;)*) => {
        /// What the terminal UI asks of the daemon.
        pub trait BridgeService {
            /// Send one request; the answer carries `request_id`.
            ///
            /// # Errors
            /// The request cannot be queued; no answer will come.
            fn request(&self, request_id: usize, what: BridgeRequest, params: Value) -> Result<()>;

            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// The request cannot be queued; no answer will come.
                fn $name(&self, request_id: usize $(, $params: Value)?) -> Result<()> {
                    let params = [$($params)?].into_iter().next().unwrap_or_else(|| json!({}));
                    self.request(request_id, BridgeRequest::$variant, params)
                }
            )*
        }
    };
}

bridge! {
    /// List the jobs.
    request_fetch_jobs => JobsList;
    /// Everything about one job.
    request_fetch_job_details => JobsGet, params;
    /// Submit a job.
    request_submit_job => JobsSubmit, params;
    /// Cancel jobs.
    request_cancel_job => JobsCancel, params;
    /// Read a job's log.
    request_fetch_job_log => JobsLog, params;
    /// Search for structures.
    request_search_materials => MaterialsSearch, params;
    /// Write a CRYSTAL deck.
    request_generate_d12 => MaterialsGenerateD12, params;
    /// A cluster's queue.
    request_fetch_slurm_queue => SlurmQueue, params;
    /// Cancel a scheduler's jobs.
    request_cancel_slurm_job => SlurmCancel, params;
    /// Take in a job that was submitted by hand.
    request_adopt_slurm_job => SlurmAdopt, params;
    /// Look at all remote jobs now.
    request_sync_remote_jobs => SlurmSync, params;
    /// List the templates.
    request_fetch_templates => TemplatesList;
    /// Fill in a template.
    request_render_template => TemplatesRender, params;
    /// List the clusters.
    request_fetch_clusters => ClustersList;
    /// Everything about one cluster.
    request_fetch_cluster => ClustersGet, params;
    /// Add a cluster.
    request_create_cluster => ClustersCreate, params;
    /// Change a cluster.
    request_update_cluster => ClustersUpdate, params;
    /// Remove a cluster.
    request_delete_cluster => ClustersDelete, params;
    /// Try a cluster's connection.
    request_test_cluster_connection => ClustersTest, params;
    /// Which workflows can be used.
    request_check_workflows_available => WorkflowsAvailable;
    /// Start a convergence study.
    request_create_convergence_study => WorkflowsCreateConvergence, params;
    /// Start a band structure.
    request_create_band_structure => WorkflowsCreateBands, params;
    /// Start a phonon calculation.
    request_create_phonon => WorkflowsCreatePhonon, params;
    /// Start an equation of state.
    request_create_eos => WorkflowsCreateEos, params;
    /// Start a geometry optimisation with AiiDA.
    request_launch_aiida => WorkflowsLaunchAiida, params;
}
