//! Pieces that screens are made of. They know the theme and nothing of the program.

pub mod ascii;
pub mod cell;
pub mod deck_text;
pub mod dialog;
pub mod facts;
pub mod form;
pub mod frame;
pub mod fuzzy;
pub mod input;
pub mod log;
pub mod plot;
pub mod scrollbar;
pub mod table;
pub mod text;
pub mod viewer;
