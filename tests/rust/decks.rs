//! Decks of pw.x on the command line: known by what stands in them, whatever they are called.

use serde_json::{Value, json};

use crate::command_line::{answering, code, document, file, program, run, stderr, submitted};

const DECK: &str = "&CONTROL\n/\n&SYSTEM\n/\n&ELECTRONS\n/\nATOMIC_SPECIES\nSi 28.086 Si.UPF\n";

#[test]
fn a_deck_is_known_whatever_its_name() {
    let (mock, seen) = answering(submitted());
    for name in ["si.in", "si.pwi", "si.inp", "silicon"] {
        let path = file(&mock, name, DECK);
        let output = run(&mock, &["submit", name, "--ntasks", "2"]);
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        let sent = seen.lock().unwrap().pop().unwrap()["params"].clone();
        assert_eq!(sent["code"], "espresso", "{name}");
        assert_eq!(sent["inputs"], json!({"deck": name}));
        assert_eq!(
            sent["files"],
            json!([{"path": name, "source": path, "executable": false}])
        );
        assert_eq!(sent.get("structure"), None);
    }
}

#[test]
fn further_files_and_a_deck_that_is_named_stay_as_they_are() {
    let (mock, seen) = answering(submitted());
    for (name, text) in [("a.in", DECK), ("b.in", DECK), ("Si.UPF", "<UPF>")] {
        file(&mock, name, text);
    }
    let given = ["submit", "a.in", "b.in", "Si.UPF", "--param", "deck=b.in"];
    assert_eq!(code(&run(&mock, &given)), 0);
    let given = ["submit", "Si.UPF", "a.in", "--code", "espresso"];
    assert_eq!(code(&run(&mock, &given)), 0);
    let seen = seen.lock().unwrap();
    let decks: Vec<&Value> = seen
        .iter()
        .map(|request| &request["params"]["inputs"]["deck"])
        .collect();
    assert_eq!(decks, ["b.in", "a.in"]);
    assert_eq!(seen[0]["params"]["files"].as_array().unwrap().len(), 3);
}

#[test]
fn with_an_engine_it_is_the_structure_that_counts() {
    let (mock, seen) = answering(submitted());
    let path = file(&mock, "cu.in", DECK);
    let given = ["submit", "cu.in", "--engine", "emt", "--task", "relax"];
    assert_eq!(code(&run(&mock, &given)), 0);
    let sent = &seen.lock().unwrap()[0]["params"];
    assert_eq!(sent["code"], "forces");
    assert_eq!(sent["structure"], json!({"path": path, "format": "pwi"}));
}

#[test]
fn what_could_be_two_things_is_asked_back_with_the_choices() {
    let (mock, seen) = answering(submitted());
    file(&mock, "si.cif", DECK);
    file(&mock, "run", &format!("pw.x <<EOF\n{DECK}EOF\n"));
    file(&mock, "one.in", DECK);
    file(&mock, "two.in", DECK);
    file(&mock, "notes.txt", "nothing");
    for (arguments, words) in [
        (
            &["submit", "si.cif"][..],
            &["--code espresso", "--code forces"][..],
        ),
        (&["submit", "run"], &["--code espresso", "--code command"]),
        (
            &["submit", "one.in", "two.in"],
            &["one.in, two.in", "--param deck=one.in"],
        ),
        (
            &["submit", "notes.txt"],
            &["notes.txt", "a deck of pw.x", "crystalmath codes"],
        ),
    ] {
        let output = run(&mock, arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        for word in words {
            assert!(stderr(&output).contains(word), "{}", stderr(&output));
        }
        let output = program(&mock)
            .args(arguments)
            .arg("--json")
            .output()
            .unwrap();
        assert_eq!(document(&output)["error"]["kind"], "usage", "{arguments:?}");
    }
    assert!(seen.lock().unwrap().is_empty());
    assert_eq!(
        code(&run(&mock, &["submit", "si.cif", "--code", "espresso"])),
        0
    );
    assert_eq!(
        code(&run(&mock, &["submit", "run", "--code", "command"])),
        0
    );
}

#[test]
fn options_of_a_deck_that_is_written_are_given_one_by_one() {
    let (mock, seen) = answering(submitted());
    let path = file(&mock, "mgo.cif", "data_MgO\n");
    let given = [
        "submit",
        "mgo.cif",
        "--code",
        "crystal",
        "--option",
        "functional=PBE0",
        "--option",
        "charge=-1",
        "--option",
        "spin.n_alpha_minus_beta=-2",
        "--option",
        "shrink=[8, 8]",
    ];
    let output = run(&mock, &given);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let sent = seen.lock().unwrap().pop().unwrap()["params"].clone();
    assert_eq!(sent["structure"], json!({"path": path}));
    assert_eq!(
        sent["inputs"],
        json!({"options": {
            "functional": "PBE0", "charge": -1, "shrink": [8, 8],
            "spin": {"n_alpha_minus_beta": -2},
        }})
    );
    let given = [
        "submit", "mgo.cif", "--engine", "mace", "--option", "head=a",
    ];
    assert_eq!(code(&run(&mock, &given)), 0);
    let sent = seen.lock().unwrap().pop().unwrap()["params"].clone();
    assert_eq!(sent["inputs"], json!({"engine_options": {"head": "a"}}));
}

#[test]
fn options_that_mean_nothing_are_refused_before_anything_is_sent() {
    let (mock, seen) = answering(submitted());
    file(&mock, "mgo.cif", "data_MgO\n");
    file(&mock, "si.in", DECK);
    let crystal = ["submit", "mgo.cif", "--code", "crystal"];
    for (more, words) in [
        (vec!["--option", "noword"], "KEY=VALUE"),
        (
            vec!["--option", "spin=open", "--option", "spin.lock_cycles=5"],
            "spin.lock_cycles lies in spin",
        ),
        (
            vec!["--option", "spin.lock_cycles=5", "--option", "spin=open"],
            "spin is given twice",
        ),
        (
            vec!["--option", "charge=1", "--param", "options={}"],
            "--param options and --option",
        ),
    ] {
        let output = run(&mock, &[&crystal[..], &more].concat());
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let command = ["submit", "si.in", "--code", "command"];
    let output = run(&mock, &[&command[..], &["--option", "charge=1"]].concat());
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("command has no --option"));
    assert!(seen.lock().unwrap().is_empty());
}
