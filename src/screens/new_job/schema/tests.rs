//! What the properties of schemas become.

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
            "shift": {"anyOf": [{"prefixItems": [{"type": "integer"}, {"type": "number"}],
                                 "type": "array"}, {"type": "null"}]},
            "basis": {"anyOf": [{"type": "string"}, {"type": "object"}]},
            "spin": {"anyOf": [{"enum": ["closed", "open"], "type": "string"},
                               {"$ref": "#/$defs/Shell"}, {"type": "null"}]},
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
            ("mesh", &Kind::Numbers),
            ("either", &Kind::Json),
            ("shift", &Kind::Numbers),
            ("basis", &Kind::TextOrJson),
            ("spin", &Kind::TextOrJson),
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
fn parts_are_fields_and_their_parameters_follow_where_they_are_chosen() {
    let document = json!({
        "methods": [{"name": "m", "params": [
            {"name": "options", "schema": {"$ref": "#/components/schemas/Options"}}]}],
        "components": {"schemas": {
            "Options": {"type": "object", "properties": {
                "metal": {"type": "boolean", "default": false},
                "freq": {"anyOf": [{"$ref": "#/components/schemas/Freq"}, {"type": "null"}]}}},
            "Freq": {"type": "object", "properties": {
                "numderiv": {"type": "integer"},
                "first": {"anyOf": [{"$ref": "#/components/schemas/Opt"}, {"type": "null"}]}}},
            "Opt": {"type": "object", "properties": {"toldeg": {"type": "number"}}}}}});
    let schema = of_method(&document, "m", "options").expect("it is there");
    let named = |chosen: &[&str]| -> Vec<(String, Kind)> {
        let specs = specs_of_parts(&schema, &|name| chosen.contains(&name));
        let specs = specs.into_iter();
        specs.map(|spec| (spec.label, spec.kind)).collect()
    };
    let own = |label: &str, kind| (label.to_owned(), kind);
    let closed = vec![own("metal", Kind::Yes), own("freq", Kind::Part)];
    assert_eq!(named(&[]), closed);
    let mut opened = closed;
    opened.extend([
        own("numderiv", Kind::Integer),
        own("first", Kind::Part),
        own("toldeg", Kind::Number),
    ]);
    assert_eq!(named(&["freq", "freq.first"]), opened);
    assert_eq!(of_method(&document, "m", "nothing"), None);
    assert_eq!(of_method(&json!({}), "m", "options"), None);
}
