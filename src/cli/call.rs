//! `crystalmath call`: any method, raw. It prints the whole `result` object.

use std::io::Read as _;

use serde_json::{Value, json};

use super::output::{self, Failure, Outcome};
use super::session::Session;

/// Arguments of `call`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The method, like jobs.list
    pub method: String,
    /// Its params as a JSON object; - reads them from stdin
    #[arg(value_name = "JSON")]
    pub params: Option<String>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let params = match args.params.as_deref() {
        None => json!({}),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::Io("cannot read stdin".into(), error))?;
            parse(&text)?
        }
        Some(text) => parse(text)?,
    };
    let result = session.ask(&args.method, params).map_err(Failure::Wire)?;
    output::document(&result)?;
    Ok(0)
}

fn parse(text: &str) -> Result<Value, Failure> {
    let hint = r#"write it like '{"limit": 5}'"#;
    match serde_json::from_str(text) {
        Ok(params @ Value::Object(_)) => Ok(params),
        Ok(_) => Err(Failure::usage("the params must be a JSON object", hint)),
        Err(error) => Err(Failure::usage(
            format!("the params are not JSON: {error}"),
            hint,
        )),
    }
}
