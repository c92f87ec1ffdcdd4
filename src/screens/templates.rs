//! The templates: texts with places to fill in. One is filled in by a form, with what comes of it and
//! the linter's marks beside it; it is saved to a file, or becomes a job.

mod act;
mod detail;
mod fill;
mod view;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::answers;
use super::listing::{Extent, Listing};
use super::save;
use super::{Cx, Event, Handled, Screen, ViewCx};
use crate::app::Data;
use crate::error::IpcError;
use crate::msg::Action;
use crate::rpc::types::{Page, TemplateRow, TemplatesMeta};
use fill::Filler;

const LIST: &str = "templates.list";

/// The state of the screen.
#[derive(Debug, Default)]
pub struct Templates {
    rows: Vec<TemplateRow>,
    /// The user's own folder.
    folder: String,
    is_read: bool,
    error: Option<String>,
    listing: Listing,
    /// The template that is being filled in.
    filler: Option<Filler>,
}

impl Templates {
    fn current(&self) -> Option<&TemplateRow> {
        self.rows.get(self.listing.place.cursor)
    }

    fn extent(&self, area: Rect) -> Extent {
        Extent {
            area,
            above: usize::from(self.error.is_some()),
            rows: self.rows.len(),
        }
    }

    fn take(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        if answers::is_cut_off(result) && self.is_read {
            return;
        }
        match answers::read::<Page<TemplateRow, TemplatesMeta>>(LIST, result) {
            Err(error) => self.error = Some(error),
            Ok(page) => {
                let held = self.current().map(|row| (row.id.clone(), row.shadowed));
                self.rows = page.data;
                self.folder = page.meta.folder;
                self.is_read = true;
                self.error = None;
                let same = |row: &TemplateRow| Some((row.id.clone(), row.shadowed)) == held;
                let at = held.is_some().then(|| self.rows.iter().position(same));
                let extent = self.extent(cx.area());
                match at {
                    Some(at) => self.listing.hold(at, extent),
                    None => self.listing.go(0, extent),
                }
            }
        }
    }

    fn movement(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let facts = detail::lines(self);
        let extent = self.extent(cx.area());
        cx.redraw();
        self.listing.act(action, extent, &facts)
    }
}

impl Screen for Templates {
    fn actions(&self) -> &'static [Action] {
        if self.filler.is_some() {
            act::FORM
        } else {
            act::LISTED
        }
    }

    fn hints(&self, _: &Data) -> Vec<Action> {
        self.useful()
    }

    fn all_actions(&self) -> Vec<Action> {
        [act::LISTED, act::FORM].concat()
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Entered => cx.ask(LIST, 0, LIST, json!({})),
            Event::Resync => {
                cx.ask(LIST, 0, LIST, json!({}));
                self.render(cx);
            }
            Event::Resized => {
                let extent = self.extent(cx.area());
                self.listing.go(self.listing.place.cursor, extent);
                cx.redraw();
            }
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) => self.edit(edit, cx),
            Event::Click(column, row) => self.click((*column, *row), cx),
            Event::Reply {
                slot: LIST, result, ..
            } => self.take(result, cx),
            Event::Reply {
                slot: fill::RENDER,
                tag,
                result,
            } => self.rendered(*tag, result, cx),
            Event::Picked {
                token: fill::PICK,
                names,
            } => self.picked(names, cx),
            Event::TextWritten { result, .. } => {
                if let Some(filler) = &mut self.filler {
                    save::written(&mut filler.save, result, cx);
                }
            }
            Event::Answered {
                token: save::ASK_REPLACE,
                yes,
            } => {
                if let Some(filler) = &mut self.filler {
                    save::answered(&mut filler.save, *yes, cx);
                }
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        if let Some(filler) = &self.filler {
            return format!("Template {}", filler.template.id);
        }
        let broken = self.rows.iter().filter(|row| row.problem.is_some()).count();
        let mut title = format!("Templates {}", self.rows.len());
        if broken > 0 {
            title = format!("{title} (not usable {broken})");
        }
        match self.current().filter(|_| self.listing.opened) {
            Some(template) => format!("{title}  {}", template.id),
            None => title,
        }
    }

    fn takes_text(&self) -> bool {
        self.filler.as_ref().is_some_and(Filler::takes_text)
    }
}
