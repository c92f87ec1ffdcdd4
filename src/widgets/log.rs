//! Logs: a window of a file of any length, and its lines made safe to be shown.

mod clean;
mod window;

pub use clean::{clean, looks_binary, rows, skip_columns};
pub use window::{Hit, LogText, WINDOW_BYTES};
