//! One structure of the list.

use crate::rpc::types::{MaterialFound, MaterialStored};

/// Where it comes from, and what is known of it without a look.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// A provider has it.
    Found(Box<MaterialFound>),
    /// It was taken in here.
    Kept(Box<MaterialStored>),
}

impl Row {
    /// What the daemon calls it.
    pub fn material(&self) -> &str {
        match self {
            Self::Found(found) => &found.material,
            Self::Kept(stored) => &stored.material,
        }
    }

    /// The reduced formula.
    pub fn formula(&self) -> &str {
        match self {
            Self::Found(found) => &found.formula,
            Self::Kept(stored) => &stored.formula,
        }
    }

    /// The space group as it is listed; empty where none is told.
    pub fn group(&self) -> String {
        match self {
            Self::Found(found) => found
                .space_group
                .as_ref()
                .map_or_else(String::new, |group| {
                    format!("{} ({})", group.symbol, group.number)
                }),
            Self::Kept(stored) => {
                let number = stored.space_group;
                number.map_or_else(String::new, |number| number.to_string())
            }
        }
    }

    /// Atoms of its cell.
    pub fn n_atoms(&self) -> i64 {
        match self {
            Self::Found(found) => found.n_atoms,
            Self::Kept(stored) => stored.n_atoms,
        }
    }

    /// Who has it.
    pub fn provider(&self) -> &str {
        let name = match self {
            Self::Found(found) if !found.provider.is_empty() => return &found.provider,
            Self::Found(found) => &found.material,
            Self::Kept(stored) => &stored.material,
        };
        name.split(':').next().unwrap_or_default()
    }

    /// What people call it.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Found(found) => found.name.as_deref(),
            Self::Kept(stored) => Some(&stored.name),
        }
    }

    /// Why nothing can be made of it; none where something can.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Found(found) if !found.generatable => {
                Some(found.reason.as_deref().unwrap_or("no reason is told"))
            }
            _ => None,
        }
    }
}
