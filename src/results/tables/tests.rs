use serde_json::json;

use super::*;

fn of(results: &Value) -> Vec<Found> {
    tables(results.as_object().expect("an object"))
}

fn titles(table: &Found) -> Vec<&str> {
    let columns = table.columns.iter();
    columns.map(|head| head.title.as_str()).collect()
}

#[test]
fn modes_are_rows_with_their_units() {
    let found = of(
        &json!({"frequencies": {"modes": 6, "negative": 0, "groups": [
        {"modes": [1, 3], "cm1": 0.0, "irrep": "Fu"},
        {"modes": [4, 6], "cm1": 485.0276, "irrep": "Fu", "ir_km_per_mol": 1045.07,
         "raman": {"total": 1.5}}]}}),
    );
    let modes = &found[0];
    assert_eq!(modes.name, "frequencies");
    let wanted = ["modes", "cm⁻¹", "irrep", "ir km/mol", "raman total"];
    assert_eq!(titles(modes), wanted);
    assert_eq!(modes.rows[0], ["1 3", "0.0", "Fu", "-", "-"]);
    assert_eq!(modes.rows[1], ["4 6", "485.0276", "Fu", "1045.07", "1.5"]);
    assert!(modes.columns[1].right && !modes.columns[2].right);
    assert_eq!(found[1].rows, [["modes", "6"], ["negative", "0"]]);
}

#[test]
fn elastic_constants_are_a_matrix_in_their_unit() {
    let row = |i: i32| (0..6).map(|j| f64::from(i * j)).collect();
    let rows: Vec<Vec<f64>> = (0..6).map(row).collect();
    let found = of(&json!({"elastic_tensor": rows, "elastic_unit": "GPa",
                           "elastic_gpa": {"C11": 1024.92, "K_voigt": 470.57}}));
    assert_eq!(found[0].name, "elastic tensor GPa");
    assert_eq!(titles(&found[0]), ["", "1", "2", "3", "4", "5", "6"]);
    assert_eq!(found[0].rows[1][..3], ["C2", "0.0", "1.0"]);
    assert_eq!(found[1].rows[0], ["C11", "1024.92"]);
}

#[test]
fn spins_stand_beside_their_elements() {
    let found = of(&json!({
        "structure": {"symbols": ["Ni", "Ni", "O", "O"],
                      "positions": [[0, 0, 0], [0, 0, 2.082], [1, 1, 1], [2, 2, 2]]},
        "spin": {"summed": -0.0, "atomic": [3.06, -3.06, -0.067, 0.067]}}));
    assert_eq!(found[0].name, "atoms");
    let second = ["2", "Ni", "0.000000", "0.000000", "2.082000"];
    assert_eq!(found[0].rows[1], second);
    assert_eq!(found[1].name, "spin atomic");
    assert_eq!(found[1].rows[3], ["4", "O", "0.067"]);
}

#[test]
fn forces_stand_beside_their_elements_with_their_unit() {
    let found = of(&json!({
        "structure": {"symbols": ["Mg", "O"], "positions": [[-1e-9, 0, 0], [1, 1, 1]]},
        "forces_ev_per_a": [[0.01, 0.0, -0.5], [-0.01, 0.0, 0.5]],
        "stress_ev_per_a3": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}));
    let forces = found
        .iter()
        .find(|table| table.name == "forces")
        .expect("forces");
    assert_eq!(
        titles(forces),
        ["atom", "element", "x eV/Å", "y eV/Å", "z eV/Å"]
    );
    assert_eq!(forces.rows[1], ["2", "O", "-0.01", "0.0", "0.5"]);
    let atoms = found
        .iter()
        .find(|table| table.name == "atoms")
        .expect("atoms");
    assert_eq!(atoms.rows[0][2], "0.000000");
    assert!(found.iter().any(|table| table.name == "stress eV/Å³"));
}

#[test]
fn a_list_called_as_its_part_is_named_once() {
    let list: Vec<f64> = (1..6).map(f64::from).collect();
    let found = of(&json!({"frequencies": {"frequencies_cm1": list}}));
    assert_eq!(found[0].name, "frequencies");
}

#[test]
fn printed_digits_stay_and_derived_ones_are_cut() {
    let found = of(&json!({"scf": {"energy_hartree": -271.218_143_749_31,
                                   "energy_ev": -7_380.208_112_345_678,
                                   "converged": true}}));
    let wanted = [
        ["energy", "-271.21814374931 Ha"],
        ["energy", "-7380.20811235 eV"],
        ["converged", "yes"],
    ];
    assert_eq!(found[0].rows, wanted);
}

#[test]
fn what_rounding_has_left_of_zero_is_zero() {
    let found = of(&json!({
        "structure": {"symbols": ["Cu", "Cu"], "positions": [[0, 0, 0], [1, 1, 1]]},
        "forces_ev_per_a": [[-2.558_078_803_036_74e-14, 0.0, -0.0],
                            [2.571_103_373_816_294_3e-7, 1e-13, 0.5]],
        "stress_ev_per_a3": [[0.059_019_196_876_156_01, -1.002_446_890_762_882_6e-16, 0.0],
                             [0.0, 3.137_281_638_257_909e-8, 0.0], [0.0, 0.0, 0.0]]}));
    let of = |name: &str| {
        found
            .iter()
            .find(|table| table.name == name)
            .expect("a table")
    };
    // What a program has printed with few digits is left alone.
    assert_eq!(of("forces").rows[0][2..], ["0", "0.0", "0.0"]);
    assert_eq!(of("forces").rows[1][2..], ["2.571103e-7", "1e-13", "0.5"]);
    let stress = of("stress eV/Å³");
    assert_eq!(stress.rows[0][1..], ["0.05901920", "0", "0.0"]);
    assert_eq!(stress.rows[1][2], "3.137282e-8");
}

#[test]
fn what_is_no_table_is_none() {
    let plain = json!({"energy_ev": -1.0, "warnings": [], "pbc": [true, true, false],
                       "one": {"value": 1}, "engine": {"name": "x", "version": "1"}});
    assert!(of(&plain).is_empty());
}
