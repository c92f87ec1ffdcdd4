//! Whether a text is a deck of pw.x, by what stands in it and not by its name. What is right or
//! wrong in a deck is the daemon's to say.

/// How much of the text the deck is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Nothing stands before it but comments.
    Whole,
    /// Other lines stand before it, as in a script that writes its own deck.
    Part,
}

/// Look for a deck in the first bytes of a file: the namelist `&system`, and beside it what tells
/// pw.x from other programs that have one.
#[must_use]
pub fn find(head: &[u8]) -> Option<Extent> {
    if head.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}');
    let mut system = false;
    let mut telling = false;
    let mut first = None;
    for line in text.split(['\n', '\r']).map(str::trim) {
        if line.is_empty() || line.starts_with(['!', '#']) {
            continue;
        }
        let namelist = namelist(line);
        first.get_or_insert(namelist.is_some());
        match namelist.as_deref() {
            Some("system") => system = true,
            Some("control" | "electrons") => telling = true,
            Some(_) => {}
            None => telling |= is_card(line),
        }
    }
    let extent = if first? { Extent::Whole } else { Extent::Part };
    (system && telling).then_some(extent)
}

/// The lower-case name of a namelist that begins on this line.
fn namelist(line: &str) -> Option<String> {
    let rest = line.strip_prefix('&')?.trim_start();
    let name: String = rest
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then(|| name.to_ascii_lowercase())
}

fn is_card(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    ["ATOMIC_SPECIES", "ATOMIC_POSITIONS"]
        .iter()
        .any(|card| word.eq_ignore_ascii_case(card))
}

#[cfg(test)]
mod tests {
    use super::{Extent, find};

    const SPECIES: &str = "ATOMIC_SPECIES\nSi 28.086 Si.UPF\n";

    #[test]
    fn decks_are_known_by_their_namelists() {
        let usual = format!("&CONTROL\n/\n&SYSTEM\n nat=2 /\n&ELECTRONS\n/\n{SPECIES}");
        let comments = format!("! silicon\n# by hand\n\n  & system\n/\n{SPECIES}");
        for text in [
            usual.clone(),
            usual.to_lowercase(),
            usual.replace('\n', "\r\n"),
            usual.replace('\n', "\r"),
            format!("\u{feff}{usual}"),
            comments,
            // Not complete: what is missing the daemon says better than "what is this?".
            "&control calculation='scf' /\n&system\n/\n".into(),
            "&system\n/\n&electrons\n/\n".into(),
        ] {
            assert_eq!(find(text.as_bytes()), Some(Extent::Whole), "{text:?}");
        }
        let mut latin = usual.into_bytes();
        latin.splice(0..0, *b"! M\xfcnchen\n");
        assert_eq!(find(&latin), Some(Extent::Whole));
    }

    #[test]
    fn a_deck_inside_of_something_else_is_told_apart() {
        let script = format!("cat >si.in <<EOF\n&control\n/\n&system\n/\n{SPECIES}EOF\npw.x\n");
        assert_eq!(find(script.as_bytes()), Some(Extent::Part));
    }

    #[test]
    fn other_inputs_are_none() {
        for text in [
            "",
            "nothing of the kind",
            "phonons\n&inputph\n prefix='si'\n/\n0 0 0\n",
            "&DOS\n prefix='si'\n/\n",
            // CPMD has a namelist of this name, too.
            "&CPMD\n OPTIMIZE WAVEFUNCTION\n&END\n&SYSTEM\n SYMMETRY\n&END\n&ATOMS\n&END\n",
            "&control\n/\n",
            "a list of cards:\nATOMIC_SPECIES\nATOMIC_POSITIONS\n",
            "Program PWSCF v.6.7MaX starts\n",
        ] {
            assert_eq!(find(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(find(b"&control\n/\n&system\n/\n\0"), None);
    }
}
