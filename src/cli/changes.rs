//! What a job that repeats or continues another does differently: the options of `rerun` and
//! `continue`, and the part of their params that they make.

use serde_json::{Map, Value, json};

use super::params::{self, Given, ResourceArgs, key_value};

/// What differs from the first submission; what is left out stays.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ChangeArgs {
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
}

impl ChangeArgs {
    /// The params of a method that makes a job out of job `id`.
    #[must_use]
    pub fn params(&self, id: i64) -> Value {
        let mut params = json!({
            "id": id,
            "changes": self.changes(),
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
        params
    }

    fn changes(&self) -> Value {
        let mut given = Given::default();
        given.text("name", self.name.as_ref());
        given.text("task", self.task.as_ref());
        given.text("engine", self.engine.as_ref());
        let inputs: Map<String, Value> = self.params.iter().cloned().collect();
        given.put(
            "inputs",
            (!inputs.is_empty()).then_some(Value::Object(inputs)),
        );
        given.put("resources", self.resources.params());
        given.list("tags", &self.tags);
        given.object()
    }
}
