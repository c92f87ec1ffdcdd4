//! Units that names carry at their end, as people write them: `fmax_ev_per_a` is `fmax` in eV/Å.

/// Endings and their units, longer ones before those they end with.
const UNITS: &[(&str, &str)] = &[
    ("_ev_per_angstrom3", "eV/Å³"),
    ("_ev_per_angstrom", "eV/Å"),
    ("_ev_per_a3", "eV/Å³"),
    ("_ev_per_a", "eV/Å"),
    ("_per_atom_ev", "eV per atom"),
    ("_ry_per_bohr", "Ry/bohr"),
    ("_inv_angstrom", "1/Å"),
    ("_angstrom3", "Å³"),
    ("_angstrom", "Å"),
    ("_mev", "meV"),
    ("_ev", "eV"),
    ("_ry", "Ry"),
    ("_hartree", "Ha"),
    ("_km_per_mol", "km/mol"),
    ("_percent", "%"),
    ("_cm1", "cm⁻¹"),
    ("_thz", "THz"),
    ("_mu_b", "μB"),
    ("_gpa", "GPa"),
    ("_kbar", "kbar"),
    ("_deg", "°"),
    ("_mib", "MiB"),
    ("_kib", "KiB"),
    ("_bytes", "bytes"),
    ("_fs", "fs"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_k", "K"),
];

/// The name in words and its unit; the unit is empty where the name carries none.
#[must_use]
pub fn split(name: &str) -> (String, &'static str) {
    let found = UNITS
        .iter()
        .find(|(ending, _)| name.len() > ending.len() && name.ends_with(ending));
    let (stem, unit) = match found {
        Some((ending, unit)) => (&name[..name.len() - ending.len()], *unit),
        None => (name, ""),
    };
    (stem.replace('_', " "), unit)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn names_carry_their_units() {
        let cases = [
            ("fmax_ev_per_a", "fmax", "eV/Å"),
            ("stress_ev_per_a3", "stress", "eV/Å³"),
            ("smax_gpa", "smax", "GPa"),
            ("energy_per_atom_ev", "energy", "eV per atom"),
            ("max_steps", "max steps", ""),
            ("elapsed_s", "elapsed", "s"),
            ("optimizer", "optimizer", ""),
            ("_s", " s", ""),
        ];
        for (name, words, unit) in cases {
            assert_eq!(split(name), (words.to_owned(), unit), "{name}");
        }
    }
}
