//! Starting each kind of workflow: the arguments that are its own.

pub mod eos;
pub mod md;
pub mod relax;
