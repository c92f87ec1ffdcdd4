//! Starting workflows: what they all are asked for with.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::wait;
use crate::cli::code_inputs::code_inputs;
use crate::cli::engines::{Agreement, install, model_name};
use crate::cli::inspect::structure_in;
use crate::cli::output::{Failure, Outcome};
use crate::cli::params::{self, Given, ResourceArgs, finite, key_value};
use crate::cli::session::Session;
use crate::cli::text;
use crate::cli::wait::WaitArgs;
use crate::rpc::fit;
use crate::rpc::types::{CreateResult, Reply};

/// What every workflow is asked for with.
#[derive(Debug, clap::Args)]
pub struct CreateArgs {
    /// A structure file, or one that was taken in, like local:3
    #[arg(value_name = "STRUCTURE", required_unless_present = "job")]
    pub structure: Option<PathBuf>,
    /// Start from the final structure of this job instead
    #[arg(long, value_name = "ID", conflicts_with = "structure")]
    pub job: Option<i64>,
    /// Force engine that computes it, like emt
    #[arg(long, value_name = "ENGINE", required_unless_present = "code")]
    pub engine: Option<String>,
    /// Code that computes it instead
    #[arg(long, value_name = "CODE", conflicts_with = "engine")]
    pub code: Option<String>,
    /// The engine's model; its default when left out
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Cluster on which its jobs run
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: Option<String>,
    /// An option of the code or of the engine for each of its jobs, like `ecutwfc_ry=30`; repeat
    /// for more
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub options: Vec<(String, Value)>,
    /// A parameter of each of its jobs, like npool=2; repeat for more
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = key_value)]
    pub params: Vec<(String, Value)>,
    /// Name of the workflow
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// What each of its jobs needs of the machine.
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// Whether the user agrees beforehand that a missing engine is installed.
    #[command(flatten)]
    pub agreement: Agreement,
    /// Whether to wait for the results.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// When a relaxation is at its end.
#[derive(Debug, clap::Args)]
pub struct CriteriaArgs {
    /// Largest force left on an atom, in eV/Å
    #[arg(long, value_name = "EV_PER_A", value_parser = finite)]
    pub fmax: Option<f64>,
    /// Largest stress left, in gigapascal
    #[arg(long, value_name = "GPA", value_parser = finite)]
    pub smax: Option<f64>,
    /// Steps before a relaxation gives up
    #[arg(long, value_name = "N")]
    pub max_steps: Option<i64>,
    /// How steps are chosen: LBFGS, BFGS or FIRE
    #[arg(long, value_name = "NAME")]
    pub optimizer: Option<String>,
}

impl CriteriaArgs {
    pub(super) fn fill(&self, options: &mut Given) {
        options.put("fmax_ev_per_a", self.fmax.map(Value::from));
        options.put("smax_gpa", self.smax.map(Value::from));
        options.put("max_steps", self.max_steps.map(Value::from));
        options.text("optimizer", self.optimizer.as_ref());
    }
}

/// Start a workflow, say what became of it, and wait if that is wanted.
pub(super) fn create(
    session: &Session,
    method: &str,
    args: &CreateArgs,
    options: Given,
) -> Outcome {
    let params = request(args, options)?;
    let raw = match session.ask(method, params.clone()) {
        Err(error) if error.kind() == install::NOT_INSTALLED => {
            install::for_submission(session, args.engine.as_deref(), args.agreement)?;
            session.ask(method, params)?
        }
        other => other?,
    };
    let reply: Reply<CreateResult> = fit(method, &raw)?;
    let made = &reply.data.workflow;
    let verb = if reply.data.repeated {
        "was there before"
    } else {
        "started"
    };
    let said = format!("workflow {} {verb}: {}", made.id, text::fit(&made.name, 50));
    wait::follow(session, &raw, made.id, &said, Some(&args.wait))
}

fn request(args: &CreateArgs, options: Given) -> Result<Value, Failure> {
    let mut given = Given::default();
    if let Some(file) = &args.structure {
        given.put("structure", Some(json!(structure_in(file, None)?)));
    }
    given.put("job", args.job.map(Value::from));
    given.text("engine", args.engine.as_ref());
    given.text("code", args.code.as_ref());
    let model = args.model.as_deref().map(model_name).transpose()?;
    given.put("model", model.map(Value::from));
    given.text("cluster", args.cluster.as_ref());
    let code = args.code.as_deref().unwrap_or("forces");
    let inputs = code_inputs(code, &args.params, &args.options)?;
    given.put(
        "inputs",
        (!inputs.is_empty()).then_some(Value::Object(inputs)),
    );
    given.text("name", args.name.as_ref());
    given.put("resources", args.resources.params());
    given.put("options", options.some());
    given.put("context", Some(params::own_context()));
    given.put("client_token", Some(params::client_token().into()));
    Ok(given.object())
}
