//! A form that is open before the daemon has told which codes there are.

use crystalmath::submission::Kind;

use super::Ui;
use super::new_job::{codes, listed, looked, open};

const SIZE: (u16, u16) = (80, 24);

/// The form of `copper.cif`, without codes.
fn early_form() -> Ui {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    listed(&mut ui);
    ui.type_text("copper.cif");
    ui.keys(&["enter"]);
    looked(&mut ui, Ok(Kind::Structure));
    ui
}

#[test]
fn the_cursor_comes_to_what_is_open_when_the_codes_come() {
    let mut ui = early_form();
    ui.answer("codes.list", Ok(codes()));
    ui.keys(&["right", "right"]);
    assert!(ui.picture(SIZE).contains("< relax >"));
}

#[test]
fn where_somebody_has_gone_the_cursor_stays() {
    let mut ui = early_form();
    // The name is the last field; the button comes after it.
    ui.keys(&["G", "up", "enter"]);
    ui.type_text("mi");
    ui.answer("codes.list", Ok(codes()));
    ui.type_text("ne");
    assert!(ui.picture(SIZE).contains("mine"), "{}", ui.picture(SIZE));
}
