//! Structures that are looked for or taken in: who has them, what they are, their cell as it is drawn
//! and turned, and the deck that is written for one.

mod act;
mod deck;
mod detail;
mod looks;
mod row;
mod search;
mod view;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::answers;
use super::listing::{Extent, Listing};
use super::new_job::files::Files;
use super::{Cx, Event, Handled, Screen, ViewCx};
use crate::app::Data;
use crate::error::IpcError;
use crate::msg::{Action, Link, Tone};
use crate::rpc::types::{ImportStructureResult, Reply};
use crate::theme::Glyphs;
use crate::widgets::cell::View;
use deck::Writer;
use looks::{Look, Looks};
use row::Row;
use search::Search;

const IMPORT: &str = "materials.import";
/// Percent of a wide window that the list has.
const SHARE: u16 = 52;

/// The state of the screen.
#[derive(Debug)]
pub struct Materials {
    search: Search,
    /// What was taken in here, the newest first.
    kept: Vec<Row>,
    listing: Listing,
    looks: Looks,
    /// From where the cell is looked at.
    view: View,
    /// Whether the given cell is drawn, not the conventional one.
    as_given: bool,
    /// The choice of a file, while one is taken in.
    import: Option<Files>,
    /// The form and the deck, while one is written.
    writer: Writer,
}

impl Default for Materials {
    fn default() -> Self {
        Self {
            search: Search::default(),
            kept: Vec::new(),
            listing: Listing::sharing(SHARE).with_facts_in(view::facts_in),
            looks: Looks::default(),
            view: View::default(),
            as_given: false,
            import: None,
            writer: Writer::default(),
        }
    }
}

impl Materials {
    /// Every row: what was taken in here, then what was found.
    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.kept.iter().chain(self.search.rows())
    }

    fn current(&self) -> Option<&Row> {
        self.rows().nth(self.listing.place.cursor)
    }

    /// What is known of the row with the cursor.
    fn look(&self) -> Option<&Look> {
        self.looks.known(self.current()?.material(), self.as_given)
    }

    fn extent(&self, area: Rect) -> Extent {
        Extent {
            area,
            above: view::above(self, self.listing.areas(area).0, 0.0, &Glyphs::UNICODE).len(),
            rows: self.rows().count(),
        }
    }

    /// Keep the cursor on this structure, or where it is, and look at what it is on.
    fn hold(&mut self, material: Option<&str>, cx: &mut Cx<'_>) {
        let at = material.and_then(|name| self.rows().position(|row| row.material() == name));
        let extent = self.extent(cx.area());
        self.listing.hold(at, extent);
        self.look_at(cx);
        cx.redraw();
    }

    /// Ask what the row with the cursor is, where that is seen. What lies elsewhere on the network is
    /// fetched only for somebody who goes into it.
    fn look_at(&mut self, cx: &mut Cx<'_>) {
        let (_, detail) = self.listing.areas(cx.area());
        let Some(row) = self.current() else { return };
        let wanted = self.listing.opened || !self.search.is_remote(row);
        if detail.width > 0 && wanted && row.reason().is_none() {
            let material = row.material().to_owned();
            self.looks.want(&material, self.as_given, cx);
        }
    }

    fn movement(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let facts = detail::lines(self, &Glyphs::UNICODE);
        let extent = self.extent(cx.area());
        let handled = self.listing.act(action, extent, &facts);
        self.look_at(cx);
        cx.redraw();
        handled
    }

    fn begin(&mut self, cx: &mut Cx<'_>) {
        self.looks.forget_failures();
        self.search.begin(cx);
        self.writer.ask_again(cx);
        self.look_at(cx);
        cx.redraw();
    }

    fn reply(&mut self, slot: &str, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        let held = self.current().map(|row| row.material().to_owned());
        match slot {
            looks::SLOT => {
                self.looks.reply(tag, result);
                cx.redraw();
            }
            IMPORT => self.imported(result, cx),
            slot if search::is_mine(slot) => {
                self.search.reply(slot, tag, result, cx);
                self.hold(held.as_deref(), cx);
            }
            slot => self.writer.reply(slot, tag, result, cx),
        }
    }

    /// A structure was taken in, or not.
    fn imported(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        let answer = answers::read::<Reply<ImportStructureResult>>(IMPORT, result);
        cx.redraw();
        match answer {
            Err(error) => match &mut self.import {
                Some(files) => files.error = Some(error),
                None => cx.toast(Tone::Bad, format!("not taken in: {error}")),
            },
            Ok(reply) => {
                self.import = None;
                let stored = reply.data.material;
                let name = stored.material.clone();
                let how = if reply.data.known {
                    "was there already"
                } else {
                    "is taken in"
                };
                cx.toast(Tone::Good, format!("{} {how} as {name}", stored.formula));
                self.kept.retain(|row| row.material() != name);
                self.kept.insert(0, Row::Kept(Box::new(stored)));
                self.hold(Some(&name), cx);
            }
        }
    }

    fn file_seen(&mut self, result: &Result<crate::submission::Kind, String>, cx: &mut Cx<'_>) {
        let Some(files) = &mut self.import else {
            return;
        };
        cx.redraw();
        match result {
            Ok(_) => {
                let path = files.typed(&cx.data().client);
                cx.send(IMPORT, 0, IMPORT, json!({"path": path}));
            }
            Err(reason) => files.error = Some(reason.clone()),
        }
    }
}

impl Screen for Materials {
    fn actions(&self) -> &'static [Action] {
        act::actions(self)
    }

    fn hints(&self, _: &Data) -> Vec<Action> {
        act::useful(self)
    }

    fn all_actions(&self) -> Vec<Action> {
        [act::LISTED, act::WRITING].concat()
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Entered | Event::Resync => self.begin(cx),
            Event::Tick => cx.redraw(),
            Event::Resized => {
                let extent = self.extent(cx.area());
                self.listing.go(self.listing.place.cursor, extent);
                self.look_at(cx);
                cx.redraw();
            }
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) => self.edit(edit, cx),
            Event::Click(column, row) => self.click((*column, *row), cx),
            Event::Reply { slot, tag, result } => self.reply(slot, *tag, result, cx),
            Event::Directory { slot, result } => {
                if let Some(files) = &mut self.import {
                    files.listed(slot, result, cx);
                }
            }
            Event::FileSeen { slot, result } if Files::is_mine(slot) => self.file_seen(result, cx),
            Event::TextWritten { result, .. } => self.writer.written(result, cx),
            Event::Answered { yes, .. } => self.writer.answered(*yes, cx),
            Event::Picked { names, .. } => self.writer.picked(names, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        if self.import.is_some() {
            return "Materials: choose a structure to take in".into();
        }
        if let Some(title) = self.writer.title() {
            return title;
        }
        let title = format!("Materials {}", self.rows().count());
        match self.current().filter(|_| self.listing.opened) {
            Some(row) => format!("{title}  {} {}", row.formula(), row.material()),
            None => title,
        }
    }

    fn takes_text(&self) -> bool {
        self.import.is_some() || self.search.is_typed() || self.writer.takes_text()
    }

    /// How long providers take is counted where it is seen.
    fn wake_at(&self, _: Rect, data: &Data) -> Option<f64> {
        let live = matches!(data.link, Link::Ready(_));
        self.search.changes_at(data.now).filter(|_| live)
    }
}
