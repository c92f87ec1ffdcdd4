//! Fields of a form from a code's JSON schema: what each takes, its default, bounds and unit.
//!
//! Whether a value is good is for the daemon to say; here a text only becomes the value it stands
//! for.

use serde_json::{Map, Value};

use crate::rpc::types::CodeInfo;
use crate::screens::units;
use crate::screens::wording::speak;

/// What a field takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Yes or no.
    Yes,
    /// One of these.
    Choice(Vec<String>),
    /// Words, with quotes around those that hold blanks.
    Words,
    /// `name=value` pairs, with quotes around those that hold blanks.
    Pairs,
    /// Anything else, written as JSON.
    Json,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its name on the wire.
    pub name: String,
    /// The name as people read it.
    pub label: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// What it takes.
    pub kind: Kind,
    /// The value that applies when nothing is written.
    pub default: Option<String>,
    /// Whether there is none.
    pub required: bool,
    /// Bounds in words; may be empty.
    pub bounds: String,
    /// What it is, in a sentence or two.
    pub help: String,
}

/// The parameters of a task of a code. While no task is chosen, those that all tasks have.
#[must_use]
pub fn specs_of(code: &CodeInfo, task: &str) -> Vec<Spec> {
    let by_task = &code.parameters_by_task;
    if let Some(schema) = by_task.get(task) {
        return specs(schema);
    }
    let everywhere = |spec: &Spec| {
        let mut schemas = by_task.values();
        schemas.all(|schema| {
            let properties = schema.get("properties").and_then(Value::as_object);
            properties.is_some_and(|properties| properties.contains_key(&spec.name))
        })
    };
    let all = specs(&code.parameters);
    all.into_iter().filter(everywhere).collect()
}

/// The parameters of a schema, in its order.
#[must_use]
pub fn specs(schema: &Map<String, Value>) -> Vec<Spec> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| spec(name, property, required.contains(&name.as_str()), schema))
        .collect()
}

fn spec(name: &str, property: &Value, required: bool, schema: &Map<String, Value>) -> Spec {
    let core = resolved(property, schema, 8);
    let (label, unit) = units::split(name);
    let text = |member: &str| {
        let own = property.get(member).or_else(|| core.get(member));
        own.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let default = property.get("default").filter(|value| !value.is_null());
    Spec {
        name: name.to_owned(),
        label,
        unit: unit.to_owned(),
        kind: kind(core),
        default: default.map(plain),
        required,
        bounds: bounds(core),
        help: speak(&text("description")).replace('`', ""),
    }
}

/// The part of a schema that says what is to be written: references followed, and of several kinds
/// the one that is not null.
fn resolved<'a>(property: &'a Value, schema: &'a Map<String, Value>, depth: usize) -> &'a Value {
    if depth == 0 {
        return property;
    }
    if let Some(name) = property["$ref"]
        .as_str()
        .and_then(|path| path.strip_prefix("#/$defs/"))
    {
        let found = schema.get("$defs").and_then(|defs| defs.get(name));
        return found.map_or(property, |found| resolved(found, schema, depth - 1));
    }
    for member in ["anyOf", "oneOf", "allOf"] {
        let Some(parts) = property[member].as_array() else {
            continue;
        };
        let mut kinds = parts.iter().filter(|part| part["type"] != "null");
        if let (Some(only), None) = (kinds.next(), kinds.next()) {
            return resolved(only, schema, depth - 1);
        }
    }
    property
}

fn kind(core: &Value) -> Kind {
    if let Some(choices) = core["enum"].as_array() {
        let words: Option<Vec<String>> = choices
            .iter()
            .map(|choice| choice.as_str().map(str::to_owned))
            .collect();
        return words.map_or(Kind::Json, Kind::Choice);
    }
    match core["type"].as_str() {
        Some("string") => Kind::Text,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Yes,
        Some("array") if core["items"]["type"] == "string" => Kind::Words,
        Some("object") if is_pairs(core) => Kind::Pairs,
        _ => Kind::Json,
    }
}

/// An object of single values with free names.
fn is_pairs(core: &Value) -> bool {
    let patterns = core["patternProperties"].as_object().into_iter().flatten();
    let values: Vec<&Value> = patterns
        .map(|(_, value)| value)
        .chain(
            core["additionalProperties"]
                .as_object()
                .map(|_| &core["additionalProperties"]),
        )
        .collect();
    let single = |value: &Value| {
        let simple = |kind: &Value| {
            matches!(
                kind["type"].as_str(),
                Some("string" | "integer" | "number" | "boolean")
            )
        };
        match value["anyOf"].as_array() {
            Some(kinds) => kinds.iter().all(simple),
            None => simple(value),
        }
    };
    core["properties"].is_null() && !values.is_empty() && values.into_iter().all(single)
}

fn bounds(core: &Value) -> String {
    let words = [
        ("exclusiveMinimum", ">"),
        ("minimum", "≥"),
        ("exclusiveMaximum", "<"),
        ("maximum", "≤"),
    ];
    let found: Vec<String> = words
        .iter()
        .filter(|(member, _)| core[member].is_number())
        .map(|(member, word)| format!("{word} {}", core[member]))
        .collect();
    found.join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        other => other.to_string(),
    }
}

/// The value that a text stands for; none when nothing is written.
///
/// # Errors
/// The text is not of this kind.
pub fn value(kind: &Kind, text: &str) -> Result<Option<Value>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let value = match kind {
        Kind::Text | Kind::Choice(_) => Value::from(text),
        Kind::Integer => match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => return Err("not a whole number".into()),
        },
        Kind::Number => match text.parse::<f64>() {
            // A whole number stays one.
            Ok(number) if number.is_finite() => text
                .parse::<i64>()
                .map_or_else(|_| Value::from(number), Value::from),
            _ => return Err("not a number".into()),
        },
        Kind::Yes => match text {
            "yes" => true.into(),
            "no" => false.into(),
            _ => return Err("yes or no".into()),
        },
        Kind::Words => words(text)?.into(),
        Kind::Pairs => {
            let mut pairs = Map::new();
            for word in words(text)? {
                let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty())
                else {
                    return Err(format!("write name=value, not {word}"));
                };
                let read = serde_json::from_str(value)
                    .ok()
                    .filter(|read: &Value| read.is_number() || read.is_boolean());
                pairs.insert(name.to_owned(), read.unwrap_or_else(|| value.into()));
            }
            Value::Object(pairs)
        }
        Kind::Json => serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?,
    };
    Ok(Some(value))
}

/// Words parted by blanks; quotes hold a word together.
///
/// # Errors
/// A quote is not closed.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut begun, mut quote) = (Vec::new(), String::new(), false, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => (quote, begun) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (None, c) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".into());
    }
    if begun {
        words.push(word);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(schema: &Value) -> Vec<Spec> {
        specs(schema.as_object().expect("an object"))
    }

    #[test]
    fn every_kind_of_property_becomes_a_field() {
        let schema = json!({
            "properties": {
                "allow_toy_elements": {"type": "boolean", "default": false},
                "fmax_ev_per_a": {"type": "number", "default": 0.005, "exclusiveMinimum": 0,
                                  "maximum": 10, "description": "Converged when `small`."},
                "cell": {"anyOf": [{"enum": ["full", "fixed"], "type": "string"}, {"type": "null"}],
                         "default": null},
                "max_steps": {"type": "integer", "minimum": 1},
                "argv": {"type": "array", "items": {"type": "string"}},
                "env": {"type": "object", "patternProperties": {"^A": {"type": "string"}}},
                "values": {"type": "object", "patternProperties":
                           {"^a": {"anyOf": [{"type": "boolean"}, {"type": "string"}]}}},
                "deck": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "mode": {"$ref": "#/$defs/Mode"},
                "mesh": {"type": "array", "items": {"type": "integer"}},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "nothing": true,
            },
            "required": ["argv"],
            "$defs": {"Mode": {"enum": ["a", "b"], "type": "string"}},
        });
        let specs = of(&schema);
        let kinds: Vec<(&str, &Kind)> = specs
            .iter()
            .map(|spec| (spec.name.as_str(), &spec.kind))
            .collect();
        let choice = |words: [&str; 2]| Kind::Choice(words.map(str::to_owned).to_vec());
        assert_eq!(
            kinds,
            [
                ("allow_toy_elements", &Kind::Yes),
                ("fmax_ev_per_a", &Kind::Number),
                ("cell", &choice(["full", "fixed"])),
                ("max_steps", &Kind::Integer),
                ("argv", &Kind::Words),
                ("env", &Kind::Pairs),
                ("values", &Kind::Pairs),
                ("deck", &Kind::Text),
                ("mode", &choice(["a", "b"])),
                ("mesh", &Kind::Json),
                ("either", &Kind::Json),
                ("nothing", &Kind::Json),
            ]
        );
        assert_eq!(specs[1].label, "fmax");
        assert_eq!(specs[1].unit, "eV/Å");
        assert_eq!(specs[1].bounds, "> 0, ≤ 10");
        assert_eq!(specs[1].default.as_deref(), Some("0.005"));
        assert_eq!(specs[1].help, "Converged when small.");
        assert_eq!(specs[0].default.as_deref(), Some("no"));
        assert_eq!(specs[2].default, None);
        assert!(specs[4].required && !specs[3].required);
    }

    #[test]
    fn a_schema_without_properties_has_no_fields() {
        assert!(of(&json!({})).is_empty());
        assert!(of(&json!({"properties": []})).is_empty());
        let round = json!({"properties": {"x": {"$ref": "#/$defs/X"}},
                           "$defs": {"X": {"$ref": "#/$defs/X"}}});
        assert_eq!(of(&round)[0].kind, Kind::Json);
    }

    #[test]
    fn texts_become_values() {
        let good = [
            (Kind::Integer, " 12 ", json!(12)),
            (Kind::Number, "1e-3", json!(0.001)),
            (Kind::Number, "3", json!(3)),
            (Kind::Yes, "no", json!(false)),
            (
                Kind::Words,
                "./run.sh 'a b' \"\" c",
                json!(["./run.sh", "a b", "", "c"]),
            ),
            (
                Kind::Pairs,
                "N=4 S='x y' B=true",
                json!({"N": 4, "S": "x y", "B": true}),
            ),
            (Kind::Json, "[1, 2]", json!([1, 2])),
        ];
        for (kind, text, wanted) in good {
            assert_eq!(value(&kind, text), Ok(Some(wanted)), "{text}");
        }
        assert_eq!(value(&Kind::Number, "  "), Ok(None));
        let bad = [
            (Kind::Integer, "1.5"),
            (Kind::Number, "nan"),
            (Kind::Number, "five"),
            (Kind::Yes, "maybe"),
            (Kind::Words, "'open"),
            (Kind::Pairs, "=1"),
            (Kind::Json, "{"),
        ];
        for (kind, text) in bad {
            assert!(value(&kind, text).is_err(), "{text}");
        }
    }
}
