//! `continue`, `import` and `read`: what they send, what they print, how they end.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::command_line::{answering, code, document, file, program, run, stderr, stdout};

fn continued(job: &Value, dry_run: &Value) -> Value {
    json!({"status": "ok", "data": {
        "job": job, "dry_run": dry_run, "repeated": false,
        "fix": "starts again from its beginning: no state was saved; electron_maxstep 2 → 100",
        "changes": [
            {"file": "si.in", "before": "  electron_maxstep = 2\n", "after": "  electron_maxstep = 100\n"},
            {"file": "si.in", "before": "", "after": "x\n".repeat(33)},
        ],
    }})
}

fn job() -> Value {
    json!({"id": 12, "name": "silicon", "code": "espresso", "task": "scf", "formula": "Si"})
}

#[test]
fn continue_says_what_it_does_differently() {
    let (mock, seen) = answering(continued(&job(), &Value::Null));
    let given = [
        "continue",
        "7",
        "--walltime",
        "2:00:00",
        "--param",
        "npool=2",
        "--name",
        "on",
    ];
    let output = run(&mock, &given);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let expected = "\
job 12 continues job 7: silicon (espresso scf Si)
fix            starts again from its beginning: no state was saved;
               electron_maxstep 2 → 100
changes        si.in
-   electron_maxstep = 2
+   electron_maxstep = 100
+ x
";
    assert!(text.starts_with(expected), "{text}");
    let end = "+ x\n… and 5 more lines; with --json all of them\n";
    assert!(text.ends_with(end), "{text}");
    let sent = &seen.lock().unwrap()[0];
    assert_eq!(sent["method"], "jobs.continue");
    assert_eq!(sent["params"]["client_token"].as_str().unwrap().len(), 32);
    assert_eq!(sent["params"].get("dry_run"), None);
    assert_eq!(
        sent["params"]["changes"],
        json!({"name": "on", "inputs": {"npool": 2}, "resources": {"walltime_s": "2:00:00"}})
    );
}

#[test]
fn a_dry_run_of_continue_shows_the_files() {
    let files = json!([{"path": "si.in", "content": "&control\n"}]);
    let dry_run = json!({"files": files, "argv": ["pw.x", "-in", "si.in"], "task": "scf"});
    let result = continued(&Value::Null, &dry_run);
    let (mock, seen) = answering(result.clone());
    let output = run(&mock, &["continue", "7", "--dry-run"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("fix "), "{text}");
    for part in [
        "program   pw.x -in si.in",
        "--- si.in\n&control",
        "nothing was stored",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert_eq!(seen.lock().unwrap()[0]["params"]["dry_run"], true);
    let output = run(&mock, &["continue", "7", "--dry-run", "--json"]);
    assert_eq!(document(&output), result);
    assert_eq!(
        code(&run(&mock, &["continue", "7", "--dry-run", "--wait"])),
        2
    );
}

#[test]
fn a_calculation_by_hand_is_imported_by_its_absolute_path() {
    let result = json!({"status": "ok", "data": {"job": job(), "repeated": false}});
    let (mock, seen) = answering(result.clone());
    let path = file(&mock, "si.out", "");
    let output = run(
        &mock,
        &["import", "si.out", "--code", "espresso", "--name", "si"],
    );
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "job 12 imported: silicon (espresso scf Si)\n"
    );
    assert_eq!(document(&run(&mock, &["import", ".", "--json"])), result);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["method"], "jobs.import_results");
    let mut sent = seen[0]["params"].clone();
    sent.as_object_mut().unwrap().remove("client_token");
    assert_eq!(
        sent,
        json!({"path": path, "code": "espresso", "name": "si"})
    );
    assert_ne!(
        seen[0]["params"]["client_token"],
        seen[1]["params"]["client_token"]
    );
}

#[test]
fn an_output_is_judged_without_a_job() {
    let mut data = json!({
        "code": "espresso", "task": "scf", "formula": "Si", "n_atoms": 2, "completed": false,
        "reason": "not_converged", "message": "the SCF did not converge", "hint": "continue it",
        "converged": false, "energy_ev": null,
        "results": {
            "engine": {"name": "pw.x", "version": "7.3"}, "scf": {"iterations": 9},
            "fermi_ev": 6.25, "volume_angstrom3": 39.31, "pressure_gpa": -1e-9,
        },
        "warnings": ["the exit code is not known: judged from the output alone"],
    });
    let (mock, seen) = answering(json!({"status": "ok", "data": data}));
    let path = file(&mock, "si.out", "");
    let output = run(&mock, &["read", "si.out"]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    let head = "espresso scf: FAILED (not_converged)\nmessage        the SCF did not converge\n";
    assert!(text.starts_with(head), "{text}");
    for part in [
        "structure      Si, 2 atoms\n",
        "Fermi level    6.2500 eV\n",
        "pressure       0.0000 GPa\n",
        "SCF            9 iterations, NOT converged\n",
        "computed with  pw.x, 7.3\n",
        "warning        the exit code is not known",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    assert_eq!(seen.lock().unwrap()[0]["params"], json!({"path": path}));

    data["completed"] = true.into();
    data["energy_ev"] = json!(-215.5);
    data["results"]["energy_per_atom_ev"] = json!(-107.75);
    let result = json!({"status": "ok", "data": data});
    let (mock, seen) = answering(result.clone());
    let mut child = program(&mock)
        .args(["read", "-", "--code", "espresso", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"Program PWSCF \xff")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), document(&output)), (0, result));
    assert_eq!(
        seen.lock().unwrap()[0]["params"],
        json!({"text": "Program PWSCF \u{fffd}", "code": "espresso"})
    );
    let text = stdout(&run(&mock, &["read", "."]));
    assert!(
        text.contains("-215.500000 eV (-107.750000 eV per atom)"),
        "{text}"
    );
}

#[test]
fn what_is_not_there_is_said_before_anything_is_sent() {
    let (mock, seen) = answering(Value::Null);
    for command in ["import", "read"] {
        let output = run(&mock, &[command, "absent.out"]);
        assert_eq!(code(&output), 2);
        assert!(
            stderr(&output).contains("absent.out"),
            "{}",
            stderr(&output)
        );
        let output = run(&mock, &[command, "absent.out", "--json"]);
        assert_eq!(document(&output)["error"]["kind"], "usage");
    }
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn more_than_the_daemon_takes_is_not_sent() {
    let (mock, seen) = answering(Value::Null);
    let mut child = program(&mock)
        .args(["read", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // It stops reading behind the limit, which may end the pipe.
    let _ = input.write_all(&vec![b'a'; 9 * 1024 * 1024]);
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("8 MiB"), "{}", stderr(&output));
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn a_job_is_shown_with_the_beginning_of_its_tables() {
    let groups: Vec<Value> = (1..=30)
        .map(|mode| json!({"modes": [mode, mode], "thz": 3.2, "cm1": 108.1, "irrep": "E_u"}))
        .collect();
    let data = json!({
        "id": 7, "uuid": "u", "name": "silicon ph", "code": "espresso", "task": "ph",
        "state": "COMPLETED", "directory": "/data/jobs/u",
        "results": {"frequencies": {"modes": 30, "groups": groups},
                    "dielectric_tensor": [[13.5, 0.0, 0.0], [0.0, 13.5, 0.0], [0.0, 0.0, 13.5]]},
    });
    let (mock, _) = answering(json!({"status": "ok", "data": data}));
    let output = run(&mock, &["show", "7"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "\nfrequencies\nmodes  THz   cm⁻¹  irrep\n1 1    3.2  108.1  E_u\n",
        "\n… 20 more rows\n",
        "\ndielectric tensor\n",
        "\nall rows and columns: crystalmath show 7 --tables\n",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    let all = stdout(&run(&mock, &["show", "7", "--tables"]));
    assert!(all.contains("\n30 30  3.2  108.1  E_u\n"), "{all}");
    assert!(!all.contains("/data/jobs"), "{all}");
}
