//! Materials: a search and how its providers do, one structure with its cell, its deck, a new job.

use crystalmath::app::Client;
use crystalmath::error::IpcError;
use crystalmath::msg::{Effect, Entry, Link, Msg};
use crystalmath::submission::Kind;
use serde_json::{Value, json};

use super::snapshots::each_named;
use super::{Ui, not_built, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (120, 40);

pub fn providers() -> Value {
    let row = |name: &str, network: bool, usable: bool| {
        json!({"name": name, "title": name, "kind": "embedded", "network": network,
               "usable": usable, "reason": if usable { Value::Null } else { json!("no key is set") }})
    };
    let rows = [
        row("embedded", false, true),
        row("cod", true, true),
        row("mp", true, false),
    ];
    json!({"status": "ok", "data": rows, "meta": {"total": 3}})
}

pub fn found(provider: &str, id: &str, changes: &Value) -> Value {
    let mut one = json!({
        "provider": provider, "id": id, "material": format!("{provider}:{id}"),
        "ids": [format!("{provider}:{id}")], "name": "periclase", "formula": "MgO",
        "formula_anonymous": "AB", "elements": ["Mg", "O"], "n_atoms": 2,
        "space_group": {"number": 225, "symbol": "Fm-3m", "symprec_angstrom": 0.01},
        "prototype": false, "properties": {"strukturbericht": "B1"}, "generatable": true,
        "reason": null, "retrieved_at": "2026-01-06T11:59:59Z",
    });
    for (key, value) in changes.as_object().unwrap() {
        one[key] = value.clone();
    }
    one
}

pub fn answer(name: &str, status: &str, rows: &[Value]) -> Value {
    let trouble = status != "ok";
    let answer = json!({
        "name": name, "status": status, "elapsed_ms": if trouble { 10_000.0 } else { 12.0 },
        "n_found": rows.len(), "more": false,
        "error": if trouble { json!("it did not answer within 10 s") } else { Value::Null },
        "hint": if trouble { json!("try again later") } else { Value::Null },
    });
    json!({"status": "ok", "data": rows,
           "meta": {"providers": [answer], "query": {"kind": "formula", "formula": "MgO"},
                    "notices": []}})
}

/// Rock salt with its conventional cell.
pub fn inspected() -> Value {
    let mut symbols = Vec::new();
    let mut positions = Vec::new();
    for (symbol, shift) in [("Mg", 0.0), ("O", 2.1)] {
        for at in [
            [0.0, 0.0, 0.0],
            [0.0, 2.1, 2.1],
            [2.1, 0.0, 2.1],
            [2.1, 2.1, 0.0],
        ] {
            symbols.push(symbol);
            positions.push([at[0] + shift, at[1], at[2]]);
        }
    }
    let cell = json!({"a_angstrom": 4.2, "b_angstrom": 4.2, "c_angstrom": 4.2,
                      "alpha_degrees": 90.0, "beta_degrees": 90.0, "gamma_degrees": 90.0});
    let mut given = cell.clone();
    given["volume_angstrom3"] = json!(74.088);
    given["density_g_per_cm3"] = json!(3.614);
    let site = |symbol: &str, letter: &str, at: f64, near: &str| {
        json!({"symbol": symbol, "atom": 1, "fraction": [at, at, at], "multiplicity": 4,
               "wyckoff": letter, "site_symmetry": "m-3m",
               "neighbours": [{"symbol": near, "distance_angstrom": 2.1, "count": 6}]})
    };
    json!({"status": "ok", "data": {
        "formula": "MgO", "cell_formula": "Mg4O4", "n_atoms": 8, "elements": ["Mg", "O"],
        "dimensionality": {"kind": "crystal", "periodic": [true, true, true],
                           "decided_by": "vacuum"},
        "cell": given,
        "symmetry": {"number": 225, "symbol": "Fm-3m", "kind": "space", "hall": "-F 4 2 3",
                     "point_group": "m-3m", "symprec_angstrom": 0.01,
                     "max_displacement_angstrom": 0.0, "max_strain": 0.0,
                     "tighter": {"number": 139, "symbol": "I4/mmm"},
                     "transformation": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
                     "origin_shift": [0.0, 0.0, 0.0], "standard_cell": cell,
                     "atoms_primitive_cell": 2, "atoms_conventional_cell": 8},
        "sites": [site("Mg", "a", 0.0, "O"), site("O", "b", 0.5, "Mg")],
        "content_hash": "ab", "source": {"reader": "x"},
        "warnings": ["a warning of the reader"],
        "atoms": {"cell": "conventional", "periodic": [true, true, true], "symbols": symbols,
                  "lattice_angstrom": [[4.2, 0.0, 0.0], [0.0, 4.2, 0.0], [0.0, 0.0, 4.2]],
                  "positions_angstrom": positions}}})
}

/// What `rpc.discover` says of the options of a deck, in short.
pub fn document() -> Value {
    let optgeom = json!({"type": "object", "properties": {
        "type": {"enum": ["ATOMONLY", "FULLOPTG"], "type": "string", "default": "ATOMONLY",
                 "description": "What moves."},
        "maxcycle": {"type": "integer", "default": 100, "minimum": 1,
                     "description": "Steps at most."}}});
    let options = json!({"type": "object", "properties": {
        "title": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null,
                  "description": "First record."},
        "method": {"enum": ["HF", "DFT"], "type": "string", "default": "DFT",
                   "description": "Hamiltonian."},
        "shrink": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}],
                   "default": null, "description": "IS and ISP."},
        "optgeom": {"anyOf": [{"$ref": "#/components/schemas/OptGeom"}, {"type": "null"}],
                    "default": null, "description": "Optimise the geometry."}}});
    json!({"methods": [{"name": "materials.generate_d12", "params": [
               {"name": "structure", "schema": {"type": "object"}},
               {"name": "options", "schema": {"$ref": "#/components/schemas/D12Options"}}]}],
           "components": {"schemas": {"D12Options": options, "OptGeom": optgeom}}})
}

pub fn deck() -> Value {
    let text = "MgO Fm-3m\nCRYSTAL\n0 0 0\n225\n4.2\n2\n12 0.0 0.0 0.0\n8 0.5 0.5 0.5\n\
                BASISSET\nPOB-TZVP-REV2\nDFT\nPBE\nEND\nSHRINK\n8 8\nEND\n";
    json!({"status": "ok", "data": {"d12": text, "gui": null, "report": {
        "dimension": "CRYSTAL", "dimension_reason": "no empty space",
        "space_group": {"number": 225, "symbol": "Fm-3m"}, "group": 225, "hall": "-F 4 2 3",
        "symprec_angstrom": 0.01, "max_displacement": 0.0, "n_asymmetric": 2,
        "multiplicities": [4, 4], "n_atoms": 8, "n_atoms_primitive": 2, "basis": "POB-TZVP-REV2",
        "shrink": [8, 8], "warnings": ["a warning of the writer"], "verified": true}}})
}

pub fn linted() -> Value {
    let mark = json!({"line": 15, "column": 1, "severity": "warning", "code": "shrink",
                      "message": "the mesh is coarse", "hint": "write 12 12"});
    json!({"status": "ok", "data": [mark],
           "meta": {"code": "crystal", "errors": 0, "warnings": 1}})
}

/// The screen, with the providers known.
fn there(ui: &mut Ui) {
    ui.model.data.client = Client {
        directory: "/work".into(),
        home: Some("/home/me".into()),
        context: json!({}),
        token: "token".into(),
    };
    ui.connect(&some_jobs());
    ui.keys(&["4"]);
    ui.answer("materials.providers", Ok(providers()));
}

/// A search is under way.
fn searching(ui: &mut Ui) {
    there(ui);
    ui.keys(&["/"]);
    ui.type_text("MgO");
    ui.keys(&["enter"]);
}

/// With a structure of the embedded provider, one that is disordered, and one that timed out.
pub fn open(ui: &mut Ui) {
    searching(ui);
    let disordered = json!({"generatable": false, "formula": "FeNi", "name": "taenite",
                            "space_group": null, "reason": "Fe 0.64 / Ni 0.36 at 0 0 0"});
    let rows = [
        found("embedded", "A1", &json!({})),
        found("embedded", "A2", &disordered),
    ];
    ui.answer("materials.search", Ok(answer("embedded", "ok", &rows)));
    ui.answer("materials.search", Ok(answer("cod", "timeout", &[])));
    if ui.asked("materials.inspect").is_some() {
        ui.answer("materials.inspect", Ok(inspected()));
    }
}

/// One structure, gone into.
fn gone_into(ui: &mut Ui) {
    open(ui);
    ui.keys(&["enter"]);
    if ui.asked("materials.inspect").is_some() {
        ui.answer("materials.inspect", Ok(inspected()));
    }
}

/// Its deck, written and linted.
pub fn writing(ui: &mut Ui) {
    open(ui);
    ui.keys(&["b"]);
    ui.answer("rpc.discover", Ok(document()));
    ui.answer("materials.generate_d12", Ok(deck()));
    ui.answer("codes.lint", Ok(linted()));
}

fn invalid(field: &str, message: &str) -> IpcError {
    IpcError::Rpc {
        code: -32602,
        message: message.into(),
        data: json!({"kind": "invalid_params", "field": field}),
    }
}

#[test]
fn pictures_of_a_search() {
    each_named("materials_empty", there);
    each_named("materials_loading", searching);
    each_named("materials_data", open);
    each_named("materials_detail", gone_into);
    each_named("materials_error", |ui| {
        searching(ui);
        let error = || invalid("query", "query: Xx is no element; see `materials.search`");
        ui.answer("materials.search", Err(error()));
        ui.answer("materials.search", Err(error()));
    });
    each_named("materials_stale", |ui| {
        gone_into(ui);
        ui.send(Msg::Link(Link::Down {
            cause: "no daemon is running".into(),
            hint: None,
            log: None,
        }));
        ui.clock(250.0);
    });
}

#[test]
fn pictures_of_a_deck() {
    each_named("materials_deck_loading", |ui| {
        open(ui);
        ui.keys(&["b"]);
    });
    each_named("materials_deck_form", writing);
    each_named("materials_deck_data", |ui| {
        writing(ui);
        ui.keys(&["p"]);
    });
    each_named("materials_deck_error", |ui| {
        writing(ui);
        ui.keys(&["j", "right"]);
        let error = invalid("options.method", "options.method: HF needs something else");
        ui.answer("materials.generate_d12", Err(error));
    });
}

#[test]
fn each_provider_is_asked_alone_and_told_as_it_answers() {
    let mut ui = Ui::new(SIZE);
    searching(&mut ui);
    ui.clock(3.0);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("embedded 3s") && text.contains("cod 3s"),
        "{text}"
    );
    assert!(text.contains("mp: no key is set"), "{text}");
    let rows = [found("embedded", "A1", &json!({}))];
    let params = ui.answer("materials.search", Ok(answer("embedded", "ok", &rows)));
    assert_eq!(
        (&params["query"], &params["providers"]),
        (&json!("MgO"), &json!(["embedded"]))
    );
    let text = ui.picture(SIZE);
    assert!(text.contains("embedded 1 in 12 ms"), "{text}");
    assert!(
        text.contains("Fm-3m (225)"),
        "the row is there before the others answer: {text}"
    );
    assert!(text.contains("cod 3s"), "{text}");
    let params = ui.answer("materials.search", Ok(answer("cod", "timeout", &[])));
    assert_eq!(params["providers"], json!(["cod"]));
    let text = ui.picture(SIZE);
    assert!(text.contains("cod: timeout, 10.0 s"), "{text}");
    assert!(
        ui.asked("materials.search").is_none(),
        "one list needs no joining"
    );
}

#[test]
fn equal_structures_of_two_providers_are_joined_once_all_have_answered() {
    let mut ui = Ui::new(SIZE);
    searching(&mut ui);
    let rows = |name| [found(name, "1", &json!({}))];
    ui.answer(
        "materials.search",
        Ok(answer("embedded", "ok", &rows("embedded"))),
    );
    ui.answer("materials.search", Ok(answer("cod", "ok", &rows("cod"))));
    assert!(ui.picture(SIZE).contains("Materials 2"));
    let mut both = found("embedded", "1", &json!({}));
    both["ids"] = json!(["embedded:1", "cod:1"]);
    let params = ui.answer("materials.search", Ok(answer("embedded", "ok", &[both])));
    assert_eq!(params["providers"], json!(["embedded", "cod"]));
    ui.keys(&["enter"]);
    ui.answer("materials.inspect", Ok(inspected()));
    let text = ui.picture(SIZE);
    assert!(text.contains("Materials 1"), "{text}");
    ui.keys(&["G"]);
    let text = ui.picture(SIZE);
    assert!(text.contains("also") && text.contains("cod:1"), "{text}");
}

#[test]
fn an_answer_to_an_older_search_is_none() {
    let mut ui = Ui::new(SIZE);
    searching(&mut ui);
    ui.keys(&["/", "ctrl-u"]);
    ui.type_text("NaCl");
    ui.keys(&["enter"]);
    let rows = [found("embedded", "A1", &json!({}))];
    ui.answer("materials.search", Ok(answer("embedded", "ok", &rows)));
    assert!(!ui.picture(SIZE).contains("periclase"));
    ui.answer("materials.search", Ok(answer("cod", "ok", &[])));
    let params = ui.answer("materials.search", Ok(answer("embedded", "ok", &[])));
    assert_eq!(params["query"], "NaCl");
    ui.answer("materials.search", Ok(answer("cod", "ok", &[])));
    assert!(ui.picture(SIZE).contains("Nobody has NaCl"));
}

#[test]
fn escape_leaves_what_was_looked_for() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    ui.keys(&["/"]);
    ui.type_text("x");
    ui.keys(&["esc"]);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("search  MgO") && !text.contains("MgOx"),
        "{text}"
    );
    assert!(text.contains("periclase"), "{text}");
}

#[test]
fn a_cell_is_turned_by_keys() {
    let mut ui = Ui::new(SIZE);
    gone_into(&mut ui);
    let mut before = ui.picture(SIZE);
    assert!(before.contains("conventional cell"), "{before}");
    for key in [
        ">",
        "<",
        "}",
        "{",
        "V",
        "X",
        "+",
        "minus",
        "shift-left",
        "shift-up",
    ] {
        ui.keys(&[key]);
        let after = ui.picture(SIZE);
        assert_ne!(before, after, "{key}");
        before = after;
    }
    ui.keys(&["V"]);
    assert!(ui.picture(SIZE).contains("along a"));
    ui.keys(&["B"]);
    let params = ui.answer("materials.inspect", Ok(inspected()));
    assert_eq!(params["atoms"], "as_given");
    ui.keys(&["B"]);
    assert!(
        ui.asked("materials.inspect").is_none(),
        "it is known already"
    );
}

#[test]
fn the_symmetry_is_told_with_its_tolerance_and_what_a_tenth_of_it_changes() {
    let mut ui = Ui::new(SIZE);
    gone_into(&mut ui);
    let text = ui.picture(SIZE);
    for words in [
        "Fm-3m (225)",
        "0.01 Å",
        "I4/mmm (139) at a tenth",
        "a warning of the",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}

#[test]
fn what_lies_on_the_network_is_fetched_for_those_who_go_into_it() {
    let mut ui = Ui::new(WIDE);
    searching(&mut ui);
    ui.answer("materials.search", Ok(answer("embedded", "ok", &[])));
    let rows = [found("cod", "1", &json!({}))];
    ui.answer("materials.search", Ok(answer("cod", "ok", &rows)));
    assert!(ui.asked("materials.inspect").is_none());
    assert!(ui.picture(WIDE).contains("fetched when you go into it"));
    ui.keys(&["enter"]);
    let params = ui.answer("materials.inspect", Err(refused("offline", "no network")));
    assert_eq!(params["structure"], json!({"material": "cod:1"}));
    assert!(ui.picture(WIDE).contains("no network"));
}

#[test]
fn a_disordered_structure_has_no_deck_and_says_why() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    ui.keys(&["j"]);
    for key in ["b", "a"] {
        ui.keys(&[key]);
        let text = ui.picture(SIZE);
        assert!(
            text.contains("FeNi cannot be used: Fe 0.64 / Ni 0.36"),
            "{text}"
        );
        assert!(ui.asked("materials.generate_d12").is_none());
        ui.clock(60.0);
    }
}

#[test]
fn a_deck_follows_the_form_and_goes_to_a_new_job() {
    let mut ui = Ui::new(WIDE);
    writing(&mut ui);
    let text = ui.picture(WIDE);
    assert!(text.contains("the mesh is coarse"), "{text}");
    assert!(text.contains("a warning of the writer"), "{text}");
    // The method, then the optimisation with what belongs to it.
    ui.keys(&["j", "left"]);
    let params = ui.answer("materials.generate_d12", Ok(deck()));
    assert_eq!(params["structure"], json!({"material": "embedded:A1"}));
    assert_eq!(params["options"], json!({"method": "HF"}));
    ui.keys(&["j", "j", "right"]);
    let params = ui.answer("materials.generate_d12", Ok(deck()));
    assert_eq!(params["options"], json!({"method": "HF", "optgeom": {}}));
    ui.keys(&["j", "right"]);
    // While it is being written anew, nothing is submitted.
    ui.keys(&["ctrl-s"]);
    assert!(ui.picture(WIDE).contains("still being written"));
    let params = ui.answer("materials.generate_d12", Ok(deck()));
    let options = json!({"method": "HF", "optgeom": {"type": "FULLOPTG"}});
    assert_eq!(params["options"], options);
    ui.keys(&["ctrl-s"]);
    let codes = json!({"status": "ok", "meta": {"total": 1}, "data": [
        {"name": "crystal", "title": "CRYSTAL", "tasks": ["scf"], "usable": true,
         "parameters": {"properties": {"options": {"type": "object", "description": "x"}}}}]});
    while ui.asked("codes.list").is_some() {
        ui.answer("codes.list", Ok(codes.clone()));
    }
    let mut last = Value::Null;
    while ui.asked("jobs.submit").is_some() {
        last = ui.answer("jobs.submit", Err(not_built()));
    }
    assert_eq!(last["structure"], json!({"material": "embedded:A1"}));
    assert_eq!(last["code"], "crystal");
    assert_eq!(last["inputs"]["options"], options);
    assert_eq!(last["name"], "MgO scf");
}

#[test]
fn what_the_daemon_refuses_stands_below_its_field() {
    let mut ui = Ui::new(SIZE);
    writing(&mut ui);
    ui.keys(&["j", "left"]);
    let error = invalid("options.shrink", "options.shrink: must have 2 values");
    ui.answer("materials.generate_d12", Err(error));
    let text = ui.picture(SIZE);
    assert!(text.contains("! must have 2 values"), "{text}");
    assert!(text.contains("1 thing to correct"), "{text}");
    ui.keys(&["W"]);
    assert!(ui.picture(SIZE).contains("there is no deck to write"));
}

#[test]
fn a_deck_is_saved_where_it_is_typed() {
    let mut ui = Ui::new(SIZE);
    writing(&mut ui);
    ui.keys(&["W"]);
    assert!(ui.picture(SIZE).contains("MgO.d12"));
    ui.keys(&["enter"]);
    let written = ui.effects.iter().find_map(|effect| match effect {
        Effect::WriteText {
            path,
            text,
            replace,
            ..
        } => Some((path.clone(), text.clone(), *replace)),
        _ => None,
    });
    let (path, text, replace) = written.expect("a file is written");
    assert_eq!(path.to_str(), Some("/work/MgO.d12"));
    assert!(text.starts_with("MgO Fm-3m\nCRYSTAL\n") && !replace);
}

#[test]
fn a_file_is_taken_in_and_stands_first() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    ui.keys(&["I"]);
    let listed = ui.effects.iter().find_map(|effect| match effect {
        Effect::ListDirectory { id, .. } => Some(*id),
        _ => None,
    });
    let entry = Entry {
        name: "quartz.cif".into(),
        is_dir: false,
        bytes: 812,
    };
    let id = listed.expect("a directory is listed");
    ui.send(Msg::Directory {
        id,
        result: Ok(vec![entry]),
    });
    ui.keys(&["enter"]);
    let seen = ui.effects.iter().find_map(|effect| match effect {
        Effect::LookAtFile { id, .. } => Some(*id),
        _ => None,
    });
    ui.send(Msg::FileSeen {
        id: seen.expect("the file is looked at"),
        result: Ok(Kind::Structure),
    });
    let stored = json!({"material": "local:3", "name": "quartz", "formula": "O2Si",
                        "cell_formula": "O6Si3", "n_atoms": 9, "space_group": 152,
                        "content_hash": "cd", "created_at": "2026-01-06T12:00:00Z"});
    let taken = json!({"status": "ok", "data": {"material": stored, "known": false}});
    let params = ui.answer("materials.import", Ok(taken));
    assert_eq!(params["path"], "/work/quartz.cif");
    let text = ui.picture(SIZE);
    assert!(text.contains("O2Si is taken in as local:3"), "{text}");
    ui.keys(&["a"]);
    assert!(ui.picture(SIZE).contains("New job: local:3"));
}
