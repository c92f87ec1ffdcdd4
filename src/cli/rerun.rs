//! `crystalmath rerun`: submit a job again.

use serde_json::{Map, Value, json};

use super::output::Outcome;
use super::params::{self, Given, ResourceArgs, key_value};
use super::session::Session;
use super::submit::send;
use super::wait::WaitArgs;

/// Arguments of `rerun`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Number of the job
    pub id: i64,
    /// Another name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Another task
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Another force engine
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// A parameter that changes, as JSON or text; null removes one; repeat for more
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = key_value)]
    pub params: Vec<(String, Value)>,
    /// What the job needs of the machine.
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// Labels instead of the first job's; repeat for more
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Whether to wait for the job.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut params = json!({
        "id": args.id,
        "changes": changes(args),
        "client_token": params::client_token(),
    });
    let context = params::own_context();
    // Without any variable of our own, those of the first submission stay.
    if context
        .as_object()
        .is_some_and(|variables| !variables.is_empty())
    {
        params["context"] = context;
    }
    send(session, "jobs.rerun", params, &args.wait)
}

/// What differs from the first submission.
fn changes(args: &Args) -> Value {
    let mut given = Given::default();
    given.text("name", args.name.as_ref());
    given.text("task", args.task.as_ref());
    given.text("engine", args.engine.as_ref());
    let inputs: Map<String, Value> = args.params.iter().cloned().collect();
    given.put(
        "inputs",
        (!inputs.is_empty()).then_some(Value::Object(inputs)),
    );
    given.put("resources", args.resources.params());
    given.list("tags", &args.tags);
    given.object()
}
