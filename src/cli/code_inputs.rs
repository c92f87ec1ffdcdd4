//! What the arguments `--param` and `--option` of several commands make of the `inputs` of a job.

use serde_json::{Map, Value};

use super::output::Failure;
use super::params::Given;

/// The parameters of a code, with its options where it has some.
///
/// # Errors
/// The code has no options, or one is given twice.
pub(super) fn code_inputs(
    code: &str,
    params: &[(String, Value)],
    options: &[(String, Value)],
) -> Result<Map<String, Value>, Failure> {
    let mut inputs: Map<String, Value> = params.iter().cloned().collect();
    if options.is_empty() {
        return Ok(inputs);
    }
    let mut given = Given::default();
    for (path, value) in options {
        given.put_at(path, value.clone())?;
    }
    let member = match code {
        "crystal" => "options",
        "forces" => "engine_options",
        "espresso" | "vasp" => return beside(inputs, given.object()),
        _ => {
            return Err(Failure::usage(
                format!("{code} has no --option"),
                "its parameters are given with --param; crystalmath codes lists them",
            ));
        }
    };
    if inputs.insert(member.to_owned(), given.object()).is_some() {
        return Err(twice(member));
    }
    Ok(inputs)
}

/// The options of a code that has them beside its other parameters.
fn beside(mut inputs: Map<String, Value>, options: Value) -> Result<Map<String, Value>, Failure> {
    let Value::Object(options) = options else {
        return Ok(inputs);
    };
    for (name, value) in options {
        if inputs.contains_key(&name) {
            return Err(twice(&name));
        }
        inputs.insert(name, value);
    }
    Ok(inputs)
}

fn twice(name: &str) -> Failure {
    Failure::usage(
        format!("--param {name} and --option say the same"),
        "leave one of them out",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::code_inputs;

    fn given(name: &str, value: Value) -> Vec<(String, Value)> {
        vec![(name.to_owned(), value)]
    }

    #[test]
    fn options_go_where_each_code_has_them() {
        let made = |code: &str, option: &str| {
            code_inputs(code, &given("a", json!(1)), &given(option, json!(2)))
                .map(Value::Object)
                .ok()
        };
        assert_eq!(
            made("crystal", "spin.lock"),
            Some(json!({"a": 1, "options": {"spin": {"lock": 2}}}))
        );
        assert_eq!(
            made("forces", "x"),
            Some(json!({"a": 1, "engine_options": {"x": 2}}))
        );
        assert_eq!(
            made("espresso", "ecutwfc_ry"),
            Some(json!({"a": 1, "ecutwfc_ry": 2}))
        );
        assert_eq!(made("espresso", "a"), None);
        assert_eq!(made("command", "x"), None);
    }
}
