//! Searches on the command line, and what they find wherever a structure is wanted.

use serde_json::{Value, json};

use crate::command_line::{answering, code, run, stderr, stdout, submitted};

fn found() -> Value {
    json!({
        "status": "ok",
        "data": [
            {
                "provider": "embedded", "id": "AB_cF8_225_a_b",
                "material": "embedded:AB_cF8_225_a_b",
                "ids": ["embedded:AB_cF8_225_a_b", "cod:1000041"],
                "name": "Halite, Rock Salt", "formula": "ClNa", "formula_anonymous": "AB",
                "elements": ["Cl", "Na"], "n_atoms": 2, "prototype": true,
                "space_group": {"number": 225, "symbol": "Fm-3m", "symprec_angstrom": 0.01},
                "properties": {}, "generatable": true, "retrieved_at": "2026-01-01T00:00:00.000Z",
            },
            {
                "provider": "cod", "id": "7", "material": "cod:7", "ids": ["cod:7"],
                "formula": "Cl0.5Na", "elements": ["Cl", "Na"], "n_atoms": 2, "properties": {},
                "generatable": false, "reason": "a site is partly empty: Cl 0.5",
                "retrieved_at": "2026-01-01T00:00:00.000Z",
            },
        ],
        "meta": {
            "query": {"kind": "chemsys", "notices": ["na-cl is read as Na-Cl"]},
            "providers": [
                {"name": "embedded", "status": "ok", "elapsed_ms": 12.3, "n_found": 1},
                {"name": "cod", "status": "timeout", "error": "x.org did not answer in time",
                 "hint": "give more `timeout_s`", "elapsed_ms": 10_000.0, "n_found": 1,
                 "cached_at": "2026-01-01T00:00:00.000Z"},
            ],
            "notices": [],
        },
    })
}

#[test]
fn hits_are_listed_with_how_each_provider_answered() {
    let (mock, seen) = answering(found());
    let output = run(
        &mock,
        &["search", "na-cl", "--limit", "5", "--timeout", "2.5"],
    );
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = stdout(&output);
    for line in [
        "read           na-cl is read as Na-Cl",
        "ClNa     225 Fm-3m      2  *Halite, Rock Salt  embedded:AB_cF8_225_a_b  (+ 1)",
        "Cl0.5Na  -              2                      cod:7",
        "embedded          ok, 1 found, 12 ms",
        "no deck        cod:7: a site is partly empty: Cl 0.5",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("timeout, 1 found, kept from 2026-01-01 00:00:00Z, 10000 ms; x.org did not answer in time; give more `--timeout`"),
        "{said}"
    );
    let request = &seen.lock().unwrap()[0];
    assert_eq!(request["method"], "materials.search");
    assert_eq!(
        request["params"],
        json!({"query": "na-cl", "limit": 5, "timeout_s": 2.5})
    );
}

#[test]
fn conditions_become_params() {
    let (mock, seen) = answering(found());
    let given = [
        "search",
        "--elements",
        "Ti,O",
        "--without",
        "Fe",
        "--any-of",
        "Mg,Ca",
        "--spacegroup",
        "225",
        "--prototype",
        "B1",
        "--max-atoms",
        "8",
        "--provider",
        "embedded",
        "--provider",
        "cod",
        "--refresh",
    ];
    assert_eq!(code(&run(&mock, &given)), 0);
    assert_eq!(
        seen.lock().unwrap()[0]["params"],
        json!({
            "elements_all": ["Ti", "O"], "elements_none": ["Fe"], "elements_any": ["Mg", "Ca"],
            "spacegroup": 225, "prototype": "B1", "n_atoms_max": 8,
            "providers": ["embedded", "cod"], "refresh": true,
        })
    );
    let output = run(&mock, &["search"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("nothing is looked for"));
}

#[test]
fn nothing_from_nobody_is_a_failure() {
    let mut nobody = found();
    nobody["data"] = json!([]);
    nobody["meta"]["providers"][0]["status"] = "failed".into();
    let (mock, _) = answering(nobody);
    let output = run(&mock, &["search", "MgO"]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("nothing was found"));
}

#[test]
fn names_of_hits_stand_for_structures() {
    let (mock, seen) = answering(submitted());
    for given in [
        ["submit", "embedded:delta-Cu", "--engine", "emt"].as_slice(),
        &["submit", "mp-2657"],
    ] {
        let output = run(&mock, given);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let sent = seen.lock().unwrap().pop().unwrap()["params"].clone();
        assert_eq!(sent["code"], "forces");
        assert_eq!(sent["structure"], json!({"material": given[1]}));
        assert_eq!(sent.get("files"), None);
    }
    for given in [
        ["submit", "embedded:delta-Cu", "--code", "command"].as_slice(),
        &["submit", "nothing.cif", "embedded:delta-Cu"],
    ] {
        assert_eq!(code(&run(&mock, given)), 2, "{given:?}");
    }
    for command in ["inspect", "d12"] {
        run(&mock, &[command, "job:12"]);
        let sent = seen.lock().unwrap().pop().unwrap()["params"].clone();
        assert_eq!(
            sent["structure"],
            json!({"material": "job:12"}),
            "{command}"
        );
    }
}
