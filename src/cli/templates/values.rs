//! What a template is filled in with, as it is typed: the type of each parameter says how a text
//! is meant.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::cli::inspect::structure_in;
use crate::cli::output::Failure;
use crate::cli::params;
use crate::rpc::types::TemplateRow;

/// The parameters of a template, from what was typed; `structure` fills the one of that type.
///
/// # Errors
/// A file that is not there, or a structure for a template that takes none.
pub(in crate::cli) fn values(
    template: &TemplateRow,
    structure: Option<&Path>,
    typed: &[(String, String)],
) -> Result<Map<String, Value>, Failure> {
    check(template)?;
    let mut found = Map::new();
    if let Some(path) = structure {
        let name = place_of_structure(template)?;
        found.insert(name.to_owned(), json!(structure_in(path, None)?));
    }
    for (name, text) in typed {
        let value = value(kind_of(template, name), name, text)?;
        if found.insert(name.clone(), value).is_some() {
            return Err(Failure::usage(
                format!("{name} is given twice"),
                "give it once",
            ));
        }
    }
    Ok(found)
}

/// Whether it can be filled in at all.
///
/// # Errors
/// What is wrong with a file that was meant to be a template.
pub(in crate::cli) fn check(template: &TemplateRow) -> Result<(), Failure> {
    let Some(problem) = &template.problem else {
        return Ok(());
    };
    let line = problem
        .line
        .map_or_else(String::new, |line| format!(", line {line}"));
    let hint = problem.hint.as_deref().unwrap_or("correct the file");
    Err(Failure::usage(
        format!(
            "the template {} cannot be used{line}: {}",
            template.id, problem.message
        ),
        hint.to_owned(),
    ))
}

fn properties(template: &TemplateRow) -> impl Iterator<Item = (&String, &Value)> {
    let members = template.parameters.get("properties");
    members.and_then(Value::as_object).into_iter().flatten()
}

fn kind_of<'a>(template: &'a TemplateRow, name: &str) -> &'a str {
    let found = properties(template).find(|(known, _)| *known == name);
    found
        .and_then(|(_, schema)| schema["x-type"].as_str())
        .unwrap_or_default()
}

fn place_of_structure(template: &TemplateRow) -> Result<&str, Failure> {
    let places: Vec<&str> = properties(template)
        .filter(|(_, schema)| schema["x-type"] == "structure")
        .map(|(name, _)| name.as_str())
        .collect();
    match places.as_slice() {
        [name] => Ok(*name),
        [] => Err(Failure::usage(
            format!("the template {} takes no structure", template.id),
            "leave it out",
        )),
        several => Err(Failure::usage(
            format!("the template {} takes several structures", template.id),
            format!("name each: --param {}=FILE", several.join("=FILE --param ")),
        )),
    }
}

/// One value: what is no number or word of JSON is sent as text, and the daemon says what is wrong.
fn value(kind: &str, name: &str, text: &str) -> Result<Value, Failure> {
    match kind {
        "string" | "choice" => Ok(json!(text)),
        "text" => match text.strip_prefix('@') {
            Some(file) => std::fs::read_to_string(file)
                .map(Value::String)
                .map_err(|error| Failure::Io(format!("cannot read {file} for {name}"), error)),
            None => Ok(json!(text)),
        },
        "structure" => match text.strip_prefix("job:").map(str::parse::<i64>) {
            Some(Ok(job)) => Ok(json!({ "job": job })),
            _ => Ok(json!(structure_in(Path::new(text), None)?)),
        },
        "file" => Ok(json!(params::absolute_file(Path::new(text))?)),
        _ => Ok(serde_json::from_str(text).unwrap_or_else(|_| json!(text))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::values;
    use crate::cli::output::Failure;
    use crate::cli::params::key_text;
    use crate::rpc::types::{TemplateProblem, TemplateRow};

    fn template() -> TemplateRow {
        let parameters: Map<String, Value> = serde_json::from_value(json!({
            "properties": {
                "name": {"x-type": "string"},
                "n": {"x-type": "int"},
                "metal": {"x-type": "bool"},
                "kind": {"x-type": "choice"},
                "cell": {"x-type": "structure"},
            }
        }))
        .unwrap();
        TemplateRow {
            id: "a/b".into(),
            parameters,
            ..TemplateRow::default()
        }
    }

    fn typed(pairs: &[&str]) -> Vec<(String, String)> {
        pairs.iter().map(|pair| key_text(pair).unwrap()).collect()
    }

    #[test]
    fn the_type_of_a_parameter_says_how_a_text_is_meant() {
        let typed = typed(&["name=12", "n=12", "metal=true", "kind=none", "cell=job:7"]);
        assert_eq!(
            Value::Object(values(&template(), None, &typed).unwrap()),
            json!({"name": "12", "n": 12, "metal": true, "kind": "none", "cell": {"job": 7}})
        );
    }

    #[test]
    fn what_is_no_number_is_left_to_the_daemon_to_refuse() {
        let found = values(&template(), None, &typed(&["n=many", "foo=1"])).unwrap();
        assert_eq!(Value::Object(found), json!({"n": "many", "foo": 1}));
    }

    #[test]
    fn a_parameter_twice_and_a_structure_for_nothing_are_refused() {
        assert!(values(&template(), None, &typed(&["n=1", "n=2"])).is_err());
        let none = TemplateRow::default();
        assert!(values(&none, Some("x.cif".as_ref()), &[]).is_err());
        let broken = TemplateRow {
            problem: Some(TemplateProblem {
                message: "foo is no key".into(),
                line: Some(3),
                hint: None,
            }),
            ..template()
        };
        let said = values(&broken, None, &typed(&["n=1"])).unwrap_err();
        assert!(matches!(said, Failure::Usage { message, .. } if message.contains("line 3: foo")));
    }
}
