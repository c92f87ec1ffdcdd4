//! Starting each kind of workflow: the arguments that are its own.

pub mod bands;
pub mod convergence;
pub mod eos;
pub mod relax;
