//! Starting each kind of workflow: the arguments that are its own.

pub mod bands;
pub mod convergence;
pub mod elastic;
pub mod eos;
pub mod md;
pub mod phonon;
pub mod relax;
