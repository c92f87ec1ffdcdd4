//! The tables of a job: the modes, tensors and spins that a program has printed, at 80 columns.

use crystalmath::msg::Effect;
use crystalmath::rpc::types::{JobState, JobSummary};
use serde_json::{Value, json};

use super::job::detail;
use super::snapshots::each_named;
use super::{Ui, job};

const SIZE: (u16, u16) = (80, 24);

fn frequencies() -> JobSummary {
    let mut job = job(1, JobState::Completed);
    job.name = "MgO frequencies".into();
    job.code = "crystal".into();
    job
}

/// A run of frequencies with elastic constants and spins, which no single run has.
fn results() -> Value {
    let group = |first: i64, cm1: f64, raman: f64| {
        json!({"modes": [first, first + 2], "cm1": cm1, "thz": 14.5408, "irrep": "Fu",
               "ir_active": true, "ir_km_per_mol": 1045.07, "raman_active": true,
               "raman": {"total": raman, "parallel": 100.5, "perpendicular": 2.25}})
    };
    let groups: Vec<Value> = (0..30)
        .map(|n| {
            group(
                3 * n + 1,
                100.25 + 10.5 * f64::from(i32::try_from(n).unwrap()),
                7.5,
            )
        })
        .collect();
    json!({"format": 1, "task": "frequencies",
        "engine": {"name": "CRYSTAL", "version": "CRYSTAL17"},
        "scf": {"converged": true, "cycles": 7, "energy_hartree": -274.664_191_888_83},
        "frequencies": {"modes": 90, "groups": groups, "acoustic": 3, "negative": 0},
        "elastic_unit": "GPa",
        "elastic_tensor": [[1024.92, 193.388, 193.388, 0.0, 0.0, 0.0],
                           [193.388, 1024.92, 193.388, 0.0, 0.0, 0.0],
                           [193.388, 193.388, 1024.92, 0.0, 0.0, 0.0],
                           [0.0, 0.0, 0.0, 289.268, 0.0, 0.0],
                           [0.0, 0.0, 0.0, 0.0, 289.268, 0.0],
                           [0.0, 0.0, 0.0, 0.0, 0.0, 289.268]],
        "structure": {"symbols": ["Ni", "Ni", "O", "O"],
                      "positions": [[0.0, 0.0, 0.0], [0.0, 0.0, 2.082], [1.5, 0.0, 1.0],
                                    [1.5, 0.0, 3.1]]},
        "spin": {"summed": 0.0, "atomic": [3.062_712_4, -3.062_694_8, -0.067_586_2, 0.067_568_6]}})
}

fn open(ui: &mut Ui) {
    ui.connect(&[frequencies()]);
    ui.keys(&["enter", "tab", "tab", "tab"]);
    let mut whole = detail(&frequencies());
    whole["data"]["results"] = results();
    ui.answer("jobs.get", Ok(whole));
}

#[test]
fn pictures_of_tables() {
    each_named("job_tables_modes", open);
    each_named("job_tables_tensor", |ui| {
        open(ui);
        ui.keys(&["]"]);
    });
}

#[test]
fn tables_are_gone_through_by_row_and_by_name() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("[Tables]") && text.contains("[frequencies]"),
        "{text}"
    );
    assert!(text.contains("cm⁻¹") && text.contains("100.25"), "{text}");
    ui.keys(&["G"]);
    assert!(ui.picture(SIZE).contains("404.75"));
    ui.keys(&["y"]);
    let copied = ui.effects.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    assert!(
        copied
            .expect("a row")
            .starts_with("88 90\t404.75\t14.5408\tFu")
    );
    ui.keys(&["]"]);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("[elastic tensor GPa]") && text.contains("289.268"),
        "{text}"
    );
    ui.keys(&["]", "]"]);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("[spin atomic]") && text.contains("-3.0626948"),
        "{text}"
    );
    ui.keys(&["[", "[", "["]);
    assert!(ui.picture(SIZE).contains("[frequencies]"));
}

#[test]
fn columns_that_do_not_fit_are_reached_and_the_first_one_stays() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    assert!(!ui.picture(SIZE).contains("perpendicular"));
    ui.keys(&["l", "l", "l", "l"]);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("perpendicular") && text.contains("modes"),
        "{text}"
    );
    assert!(!text.contains("cm⁻¹"), "{text}");
    ui.keys(&["h", "h", "h", "h"]);
    assert!(ui.picture(SIZE).contains("cm⁻¹"));
}
