//! Fields of a form from a JSON schema: what each takes, its default, bounds and unit.
//!
//! Whether a value is good is for the daemon to say; here a text only becomes the value it stands
//! for.

#[cfg(test)]
mod tests;
mod written;

use serde_json::{Map, Value};

use crate::rpc::types::CodeInfo;
use crate::screens::wording::speak;
use crate::units;
pub use written::{put, quoted, text_of, value, words};

/// Where references of a schema lead to.
const DEFINITIONS: [&str; 2] = ["#/$defs/", "#/components/schemas/"];

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
    /// Whether a part is there whose own parameters follow; yes or no.
    Part,
    /// One of these.
    Choice(Vec<String>),
    /// Words, with quotes around those that hold blanks.
    Words,
    /// `name=value` pairs, with quotes around those that hold blanks.
    Pairs,
    /// Numbers, parted by blanks or commas.
    Numbers,
    /// A text, or JSON when it begins with `{`.
    TextOrJson,
    /// A structure: a path, `provider:id`, `job:12`, or JSON when it begins with `{`.
    Structure,
    /// The path of a file.
    Path,
    /// Anything else, written as JSON.
    Json,
}

impl Kind {
    /// Whether it is chosen, not written.
    #[must_use]
    pub const fn is_chosen(&self) -> bool {
        matches!(self, Self::Choice(_) | Self::Yes | Self::Part)
    }

    /// How it is written, where that does not go without saying.
    #[must_use]
    pub const fn takes(&self) -> &'static str {
        match self {
            Self::Words => "Words; quotes hold blanks.",
            Self::Pairs => "Pairs name=value; quotes hold blanks.",
            Self::Numbers => "Numbers, parted by blanks.",
            Self::TextOrJson => "A word, or JSON that begins with {.",
            Self::Structure => "A path, provider:id like local:3, or job:12.",
            Self::Path => "A path.",
            Self::Json => "Written as JSON.",
            _ => "",
        }
    }
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

impl Spec {
    /// The choice that stands so many further than what is in force: what is `written`, else the
    /// default. None where nothing is chosen.
    #[must_use]
    pub fn turned(&self, written: &str, by: isize) -> Option<String> {
        let words: Vec<&str> = match &self.kind {
            Kind::Choice(words) => words.iter().map(String::as_str).collect(),
            Kind::Yes | Kind::Part => vec!["no", "yes"],
            _ => return None,
        };
        let written = Some(written).filter(|text| !text.is_empty());
        let now = written.or(self.default.as_deref());
        let at = now.and_then(|now| words.iter().position(|word| *word == now));
        let count = words.len().cast_signed().max(1);
        let to = match at {
            Some(at) => (at.cast_signed() + by).rem_euclid(count),
            None if by < 0 => count - 1,
            None => 0,
        };
        words.get(to.cast_unsigned()).map(|word| (*word).to_owned())
    }
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
    let required = required(schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| spec(name, property, required.contains(&name.as_str()), schema))
        .collect()
}

fn required(schema: &Map<String, Value>) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// The parameters of a schema and of its parts, as `part.parameter`. A part that may be left out is
/// a field of its own; its parameters follow where it is `chosen`.
#[must_use]
pub fn specs_of_parts(schema: &Map<String, Value>, chosen: &dyn Fn(&str) -> bool) -> Vec<Spec> {
    let mut all = Vec::new();
    add_parts(schema, schema, "", chosen, &mut all);
    all
}

fn add_parts(
    part: &Map<String, Value>,
    schema: &Map<String, Value>,
    path: &str,
    chosen: &dyn Fn(&str) -> bool,
    all: &mut Vec<Spec>,
) {
    let properties = part.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let core = resolved(property, schema, 8);
        let own = required(part).contains(&name.as_str());
        let mut spec = spec(name, property, own, schema);
        spec.name = format!("{path}{name}");
        let Some(inner) = core.as_object().filter(|core| is_part(core)) else {
            all.push(spec);
            continue;
        };
        spec.kind = Kind::Part;
        spec.default = Some("no".to_owned());
        let path = format!("{}.", spec.name);
        let is_chosen = chosen(&spec.name);
        all.push(spec);
        // A schema may hold itself.
        if is_chosen && path.matches('.').count() < 8 {
            add_parts(inner, schema, &path, chosen, all);
        }
    }
}

fn is_part(core: &Map<String, Value>) -> bool {
    let properties = core.get("properties").and_then(Value::as_object);
    core.get("type").is_some_and(|kind| kind == "object")
        && properties.is_some_and(|properties| !properties.is_empty())
}

/// The schema of a parameter of a method, with all that it refers to, from the document of
/// `rpc.discover`.
#[must_use]
pub fn of_method(document: &Value, method: &str, parameter: &str) -> Option<Map<String, Value>> {
    let named = |all: &Value, name: &str| -> Option<Value> {
        let mut all = all.as_array()?.iter();
        all.find(|one| one["name"] == name).cloned()
    };
    let method = named(&document["methods"], method)?;
    let parameter = named(&method["params"], parameter)?;
    let mut definitions = Map::new();
    definitions.insert("$defs".into(), document["components"]["schemas"].clone());
    let mut schema = resolved(&parameter["schema"], &definitions, 8)
        .as_object()?
        .clone();
    schema.extend(definitions);
    Some(schema)
}

fn spec(name: &str, property: &Value, required: bool, schema: &Map<String, Value>) -> Spec {
    let core = resolved(property, schema, 8);
    let (label, unit) = units::split(name);
    let text = |member: &str| {
        let own = property.get(member).or_else(|| core.get(member));
        own.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let default = property.get("default").filter(|value| !value.is_null());
    let kind = kind(core);
    let default = match kind {
        // A whole structure is too much for a line.
        Kind::Structure => default.map(|_| "an example".to_owned()),
        _ => default.map(plain),
    };
    Spec {
        name: name.to_owned(),
        label,
        unit: core["x-unit"].as_str().unwrap_or(unit).to_owned(),
        kind,
        default,
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
    let path = property["$ref"].as_str();
    let mut roots = DEFINITIONS.iter();
    if let Some(name) = path.and_then(|path| roots.find_map(|root| path.strip_prefix(root))) {
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
    match core["x-type"].as_str() {
        Some("structure") => return Kind::Structure,
        Some("file") => return Kind::Path,
        _ => {}
    }
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
        Some("array") if is_numbers(core) => Kind::Numbers,
        Some("object") if is_pairs(core) => Kind::Pairs,
        _ if is_text_or_object(core) => Kind::TextOrJson,
        _ => Kind::Json,
    }
}

/// A list of numbers, or a tuple of them.
fn is_numbers(core: &Value) -> bool {
    let is_number = |item: &Value| matches!(item["type"].as_str(), Some("integer" | "number"));
    match core["prefixItems"].as_array() {
        Some(items) => items.iter().all(is_number),
        None => is_number(&core["items"]),
    }
}

/// One of a text and an object.
fn is_text_or_object(core: &Value) -> bool {
    let Some(parts) = core["anyOf"].as_array() else {
        return false;
    };
    let has = |kind: &str| parts.iter().any(|part| part["type"] == kind);
    let refers = parts.iter().any(|part| part["$ref"].is_string());
    has("string") && (has("object") || refers)
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
