//! A form of nested parameters: what is seen, what it stands for, and whose a fault is.

use serde_json::{Value, json};

use super::super::new_job::schema::{Kind, Spec};
use super::{Done, Form, TextLine};
use crate::error::IpcError;
use crate::msg::Edit;

fn spec(name: &str, kind: Kind, default: Option<&str>) -> Spec {
    Spec {
        name: name.into(),
        label: name.rsplit('.').next().unwrap_or(name).into(),
        unit: String::new(),
        kind,
        default: default.map(str::to_owned),
        required: false,
        bounds: String::new(),
        help: String::new(),
    }
}

fn form() -> Form {
    let words = |words: [&str; 2]| Kind::Choice(words.map(str::to_owned).to_vec());
    Form::of(vec![
        spec("title", Kind::Text, None),
        spec("method", words(["HF", "DFT"]), Some("DFT")),
        spec("freqcalc", Kind::Part, Some("no")),
        spec("freqcalc.numderiv", Kind::Integer, Some("2")),
        spec("freqcalc.preoptgeom", Kind::Part, Some("no")),
        spec("freqcalc.preoptgeom.toldeg", Kind::Number, None),
        spec("charge", Kind::Integer, Some("0")),
    ])
}

fn write(form: &mut Form, name: &str, text: &str) {
    let field = form.fields.iter_mut().find(|field| field.spec.name == name);
    field.expect("a field").input = TextLine::of(text);
}

fn seen(form: &Form) -> Vec<&str> {
    form.shown()
        .map(|(_, field)| field.spec.name.as_str())
        .collect()
}

fn refused(data: Value) -> IpcError {
    IpcError::Rpc {
        code: -32602,
        message: "options.freqcalc.numderiv must be at most 2".into(),
        data,
    }
}

#[test]
fn what_is_not_written_is_left_to_the_daemon() {
    let form = form();
    assert_eq!(form.values(), Ok(serde_json::Map::new()));
    assert!(!form.is_changed());
}

#[test]
fn a_switch_shows_what_stands_under_it_and_is_an_object() {
    let mut form = form();
    assert_eq!(seen(&form), ["title", "method", "freqcalc", "charge"]);
    write(&mut form, "freqcalc.numderiv", "1");
    assert_eq!(
        form.values(),
        Ok(serde_json::Map::new()),
        "what is off does not count"
    );
    write(&mut form, "freqcalc", "yes");
    let values = form.values().map(Value::Object);
    assert_eq!(values, Ok(json!({"freqcalc": {"numderiv": 1}})));
    write(&mut form, "freqcalc.numderiv", "");
    write(&mut form, "freqcalc.preoptgeom", "yes");
    let values = form.values().map(Value::Object);
    assert_eq!(values, Ok(json!({"freqcalc": {"preoptgeom": {}}})));
    assert!(seen(&form).contains(&"freqcalc.preoptgeom.toldeg"));
    write(&mut form, "freqcalc", "no");
    assert_eq!(form.values(), Ok(serde_json::Map::new()));
}

#[test]
fn a_text_that_is_no_value_is_a_fault_of_its_field() {
    let mut form = form();
    write(&mut form, "charge", "much");
    let faults = form.values().expect_err("no number");
    assert_eq!(faults.keys().collect::<Vec<_>>(), ["charge"]);
}

#[test]
fn the_daemon_s_faults_stand_below_what_they_are_about() {
    let mut form = form();
    write(&mut form, "freqcalc", "yes");
    form.refused(
        &refused(json!({"field": "options.freqcalc.numderiv"})),
        "options.",
    );
    let (name, words) = form.faults.iter().next().expect("a fault");
    assert_eq!(
        (name.as_str(), words.as_str()),
        ("freqcalc.numderiv", "must be at most 2")
    );
    form.go_to_fault();
    assert_eq!(
        form.field().map(|field| field.spec.name.as_str()),
        Some("freqcalc.numderiv")
    );
    // What is not seen: the switch above it; what is no option: the whole.
    write(&mut form, "freqcalc", "no");
    form.refused(
        &refused(json!({"field": "options.freqcalc.numderiv"})),
        "options.",
    );
    assert!(form.faults.contains_key("freqcalc"));
    form.refused(
        &refused(json!({"field": "structure", "hint": "give another"})),
        "options.",
    );
    assert!(form.faults.is_empty());
    assert!(
        form.whole
            .as_deref()
            .is_some_and(|whole| whole.contains("give another"))
    );
}

#[test]
fn escape_takes_back_what_was_typed() {
    let mut form = form();
    form.editing = Some(TextLine::default());
    assert_eq!(form.edit(&Edit::Insert("Si".into())), Done::Changed);
    assert!(form.is_written_in());
    assert_eq!(form.edit(&Edit::Cancel), Done::Changed);
    assert!(!form.is_written_in() && !form.is_changed());
    form.editing = Some(TextLine::default());
    form.edit(&Edit::Insert("Si".into()));
    assert_eq!(form.edit(&Edit::Submit), Done::Moved);
    let values = form.values().map(Value::Object);
    assert_eq!(values, Ok(json!({"title": "Si"})));
    assert_eq!(
        form.field().map(|field| field.spec.name.as_str()),
        Some("method")
    );
}
