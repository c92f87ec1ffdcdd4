//! `workflows convergence`.

use serde_json::Value;

use crate::cli::output::Outcome;
use crate::cli::params::{Given, finite};
use crate::cli::session::Session;
use crate::cli::workflows::create::{CreateArgs, create};

/// Arguments of `workflows convergence`.
#[derive(Debug, clap::Args)]
pub struct ConvergenceArgs {
    /// What every workflow is asked for with.
    #[command(flatten)]
    pub create: CreateArgs,
    /// What is varied: the cutoff in Ry, the spacing of k points in 1/Å, the smearing in Ry, the
    /// supercell; with CRYSTAL also shrink, tolinteg and basis
    #[arg(long, value_name = "NAME",
        value_parser = ["cutoff", "k_spacing", "degauss", "supercell", "shrink", "tolinteg", "basis"])]
    pub parameter: String,
    /// Its values, like 10,15,20,25,30
    #[arg(long, value_name = "VALUES", value_delimiter = ',', required = true)]
    pub values: Vec<String>,
    /// What shall be converged; the energy when left out
    #[arg(long, value_name = "NAME", value_parser = ["energy", "force", "stress", "gap"])]
    pub quantity: Option<String>,
    /// How near to the finest value is near enough: eV per atom, eV/Å, gigapascal or eV
    #[arg(long, value_name = "NUMBER", value_parser = finite)]
    pub tolerance: Option<f64>,
}

pub(in crate::cli::workflows) fn start(session: &Session, args: &ConvergenceArgs) -> Outcome {
    let mut options = Given::default();
    options.text("parameter", Some(&args.parameter));
    let values: Vec<Value> = args.values.iter().map(|text| value(text)).collect();
    options.list("values", &values);
    options.text("quantity", args.quantity.as_ref());
    options.put("tolerance", args.tolerance.map(Value::from));
    create(
        session,
        "workflows.create_convergence",
        &args.create,
        options,
    )
}

/// A number where it is one.
fn value(text: &str) -> Value {
    let text = text.trim();
    finite(text).map_or_else(|_| Value::from(text), Value::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::value;

    #[test]
    fn numbers_are_sent_as_numbers_and_everything_else_as_it_stands() {
        assert_eq!(value(" 12.5"), json!(12.5));
        assert_eq!(value("7 7 7 7 14"), json!("7 7 7 7 14"));
        assert_eq!(value("STO-3G"), json!("STO-3G"));
    }
}
