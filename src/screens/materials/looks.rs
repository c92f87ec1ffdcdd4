//! What the daemon found in structures that were looked at.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::error::IpcError;
use crate::rpc::types::{AtomsFound, InspectResult, Reply};
use crate::screens::{Cx, answers};
use crate::widgets::cell::{Crystal, Vector};

/// The slot of a look.
pub const SLOT: &str = "materials.inspect";
/// How many are kept.
const MOST: usize = 100;

/// One structure.
#[derive(Debug)]
pub struct Inspected {
    /// What it is.
    pub found: InspectResult,
    /// What there is to draw.
    pub crystal: Option<Crystal>,
}

/// What is known of a structure, or why nothing is.
pub type Look = Result<Box<Inspected>, String>;

/// A structure, and whether its given cell is meant.
type Key = (String, bool);

/// Everything that was looked at.
#[derive(Debug, Default)]
pub struct Looks {
    known: BTreeMap<Key, Look>,
    /// What is asked, by the tag of the call.
    asked: BTreeMap<i64, Key>,
    last: i64,
}

impl Looks {
    /// What is known of a structure.
    pub fn known(&self, material: &str, as_given: bool) -> Option<&Look> {
        self.known.get(&(material.to_owned(), as_given))
    }

    /// Ask, unless it is known or asked already.
    pub fn want(&mut self, material: &str, as_given: bool, cx: &mut Cx<'_>) {
        let key = (material.to_owned(), as_given);
        let newest = self.asked.last_key_value().map(|(_, key)| key);
        if self.known.contains_key(&key) || newest == Some(&key) {
            return;
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.last += 1;
        self.asked.insert(self.last, key);
        let cell = if as_given { "as_given" } else { "conventional" };
        let params = json!({"structure": {"material": material}, "atoms": cell});
        cx.ask(SLOT, self.last, SLOT, params);
    }

    /// An answer has come. What was asked before it and waited was given up for it.
    pub fn reply(&mut self, tag: i64, result: &Result<Value, IpcError>) {
        let Some(key) = self.asked.remove(&tag) else {
            return;
        };
        self.asked.retain(|other, _| *other > tag);
        let answer = answers::read::<Reply<InspectResult>>(SLOT, result);
        let look = answer.map(|reply| {
            let found = reply.data;
            let crystal = found.atoms.as_ref().and_then(crystal);
            Box::new(Inspected { found, crystal })
        });
        self.known.insert(key, look);
    }

    /// What was refused or lost may be asked again.
    pub fn forget_failures(&mut self) {
        self.known.retain(|_, look| look.is_ok());
        self.asked.clear();
    }
}

/// What is drawn; none where the answer does not hold together.
fn crystal(atoms: &AtomsFound) -> Option<Crystal> {
    let vector = |row: &Vec<f64>| Vector::try_from(row.as_slice()).ok();
    let lattice = match &atoms.lattice_angstrom {
        None => None,
        Some(rows) => {
            let rows: Option<Vec<Vector>> = rows.iter().map(vector).collect();
            Some(<[Vector; 3]>::try_from(rows?).ok()?)
        }
    };
    let places: Option<Vec<Vector>> = atoms.positions_angstrom.iter().map(vector).collect();
    let places = places.filter(|places| places.len() == atoms.symbols.len())?;
    Some(Crystal {
        lattice,
        periodic: <[bool; 3]>::try_from(atoms.periodic.as_slice()).ok()?,
        atoms: atoms.symbols.iter().cloned().zip(places).collect(),
    })
}
