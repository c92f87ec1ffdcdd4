//! A search: what is looked for, who is asked, and what each of them has answered so far.
//!
//! Each provider is asked by a call of its own, so that the quick ones do not wait for the slow ones.
//! Once all have answered, one call more asks for the list in which equal structures are joined.

use serde_json::{Value, json};

use super::row::Row;
use crate::error::IpcError;
use crate::msg::Edit;
use crate::rpc::types::{
    MaterialFound, Page, ProviderAnswer, ProviderRow, ProvidersMeta, SearchMeta,
};
use crate::screens::{Cx, answers};
use crate::widgets::input::TextLine;
use crate::widgets::text;

const PROVIDERS: &str = "materials.providers";
const METHOD: &str = "materials.search";
/// The slot of the list without doubles.
const JOINED: &str = "search";
/// Structures of each provider at most, and of all together.
const LIMIT: usize = 50;
const MOST: usize = 1000;
/// A slot for each provider; the last is for all that are left.
const SLOTS: [&str; 16] = [
    "search-0",
    "search-1",
    "search-2",
    "search-3",
    "search-4",
    "search-5",
    "search-6",
    "search-7",
    "search-8",
    "search-9",
    "search-10",
    "search-11",
    "search-12",
    "search-13",
    "search-14",
    "search-15",
];

/// Whether an answer in this slot is one of a search.
pub fn is_mine(slot: &str) -> bool {
    slot == PROVIDERS || slot == JOINED || SLOTS.contains(&slot)
}

/// One call: who is asked by it, and how it stands.
#[derive(Debug)]
struct Call {
    names: Vec<String>,
    since: f64,
    answered: bool,
    found: Vec<MaterialFound>,
}

/// How it stands with a provider.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing<'a> {
    /// It was not asked.
    Idle,
    /// It cannot be asked, and why.
    Unusable(&'a str),
    /// It is asked since then.
    Asked(f64),
    /// It has answered.
    Answered(&'a ProviderAnswer),
    /// The call to it failed.
    Failed,
}

/// The search.
#[derive(Debug, Default)]
pub struct Search {
    /// What is typed.
    pub query: TextLine,
    /// What stood there before, while it is typed.
    before: Option<TextLine>,
    /// What the rows are about.
    asked: String,
    /// Rises with every search; an answer to an older one is none.
    version: i64,
    providers: Vec<ProviderRow>,
    /// Whether the providers are known.
    pub is_ready: bool,
    answers: Vec<ProviderAnswer>,
    calls: Vec<Call>,
    rows: Vec<Row>,
    /// Why the search as a whole has failed.
    pub error: Option<String>,
    /// What to know of the list as a whole.
    pub notices: Vec<String>,
    /// Ask again also who has answered today.
    pub anew: bool,
}

impl Search {
    /// What was found.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// What the rows are about; empty before the first search.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// Whether keys are text now.
    pub const fn is_typed(&self) -> bool {
        self.before.is_some()
    }

    /// Whether somebody has not answered yet.
    pub fn is_under_way(&self) -> bool {
        self.calls.iter().any(|call| !call.answered)
    }

    /// Whether nobody has answered, so that what is wrong is the search itself.
    pub fn is_refused(&self) -> bool {
        self.error.is_some() && self.answers.is_empty()
    }

    /// Whether a look at a row would ask somebody on the network.
    pub fn is_remote(&self, row: &Row) -> bool {
        let mut providers = self.providers.iter();
        let found = providers.find(|one| one.name == row.provider());
        found.is_some_and(|one| one.network)
    }

    /// Every provider with how it stands.
    pub fn standings(&self) -> impl Iterator<Item = (&str, Standing<'_>)> {
        self.providers.iter().map(|one| {
            let answer = self.answers.iter().find(|answer| answer.name == one.name);
            let call = self
                .calls
                .iter()
                .find(|call| call.names.contains(&one.name));
            let standing = match (answer, call) {
                (Some(answer), _) => Standing::Answered(answer),
                (None, Some(call)) if call.answered => Standing::Failed,
                (None, Some(call)) => Standing::Asked(call.since),
                (None, None) if !one.usable => {
                    Standing::Unusable(one.reason.as_deref().unwrap_or("cannot be asked"))
                }
                (None, None) => Standing::Idle,
            };
            (one.name.as_str(), standing)
        })
    }

    /// When a time that is shown is another one.
    pub fn changes_at(&self, now: f64) -> Option<f64> {
        let open = self.calls.iter().filter(|call| !call.answered);
        let times = open.map(|call| (now - call.since).max(0.0));
        let next = times.filter_map(text::so_far_changes_in).reduce(f64::min);
        next.map(|after| (now + after).ceil())
    }

    /// Begin to type.
    pub fn type_query(&mut self) {
        self.before = Some(self.query.clone());
    }

    /// A change of what is typed; whether it is to be looked for now.
    pub fn edit(&mut self, edit: &Edit) -> bool {
        match edit {
            Edit::Cancel => {
                if let Some(before) = self.before.take() {
                    self.query = before;
                }
            }
            Edit::Submit => {
                self.before = None;
                return true;
            }
            edit => {
                self.query.apply(edit);
            }
        }
        false
    }

    /// The screen is seen, or the connection is there again: who there is, and what was asked last.
    pub fn begin(&mut self, cx: &mut Cx<'_>) {
        cx.ask(PROVIDERS, 0, PROVIDERS, json!({}));
        if self.is_ready && (self.anew || self.is_under_way() || self.error.is_some()) {
            self.start(cx);
        }
    }

    /// Look for what is typed.
    pub fn start(&mut self, cx: &mut Cx<'_>) {
        let query = self.query.text().trim().to_owned();
        self.version += 1;
        self.calls.clear();
        self.answers.clear();
        self.notices.clear();
        self.error = None;
        if query != self.asked {
            self.rows.clear();
        }
        self.asked = query;
        if self.asked.is_empty() {
            self.anew = false;
            return;
        }
        let usable = self.providers.iter().filter(|one| one.usable);
        let mut names: Vec<String> = usable.map(|one| one.name.clone()).collect();
        // One slot is left for all the rest.
        let rest = names.split_off(names.len().min(SLOTS.len() - 1));
        let mut calls: Vec<Vec<String>> = names.into_iter().map(|name| vec![name]).collect();
        calls.extend((!rest.is_empty()).then_some(rest));
        for (names, slot) in calls.into_iter().zip(SLOTS) {
            cx.ask(slot, self.version, METHOD, self.params(&names, LIMIT));
            self.calls.push(Call {
                names,
                since: cx.now(),
                answered: false,
                found: Vec::new(),
            });
        }
        self.anew = false;
        if self.calls.is_empty() {
            self.error = Some("nobody can be asked".into());
        }
    }

    fn params(&self, names: &[String], limit: usize) -> Value {
        let mut params = json!({"query": self.asked, "providers": names, "limit": limit});
        if self.anew {
            params["refresh"] = true.into();
        }
        params
    }

    /// An answer has come.
    pub fn reply(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        if slot == PROVIDERS {
            self.take_providers(result, cx);
        } else if tag == self.version {
            let answer = answers::read::<Page<MaterialFound, SearchMeta>>(METHOD, result);
            match SLOTS.iter().position(|own| *own == slot) {
                Some(at) => self.take(at, answer, cx),
                None => self.take_joined(answer),
            }
        }
    }

    fn take_providers(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        if answers::is_cut_off(result) {
            return;
        }
        match answers::read::<Page<ProviderRow, ProvidersMeta>>(PROVIDERS, result) {
            Err(error) => self.error = Some(error),
            Ok(page) => {
                let first = !self.is_ready;
                self.providers = page.data;
                self.is_ready = true;
                self.error = None;
                // What was typed before anybody was known.
                if first && !self.query.text().trim().is_empty() && !self.is_typed() {
                    self.start(cx);
                }
            }
        }
    }

    /// What one call has brought.
    fn take(
        &mut self,
        at: usize,
        answer: Result<Page<MaterialFound, SearchMeta>, String>,
        cx: &mut Cx<'_>,
    ) {
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        call.answered = true;
        match answer {
            Err(error) => self.error = Some(error),
            Ok(page) => {
                call.found = page.data;
                self.answers.extend(page.meta.providers);
                self.tell(page.meta.query.notices);
                self.tell(page.meta.notices);
            }
        }
        let first_answer = self.calls.iter().filter(|call| call.answered).count() == 1;
        if first_answer || self.calls.iter().any(|call| !call.found.is_empty()) {
            let found = self.calls.iter().flat_map(|call| &call.found);
            self.rows = found
                .cloned()
                .map(|one| Row::Found(Box::new(one)))
                .collect();
        }
        self.join(cx);
    }

    fn tell(&mut self, notices: Vec<String>) {
        for notice in notices {
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
    }

    /// Once everybody has answered, the same without doubles.
    fn join(&mut self, cx: &mut Cx<'_>) {
        let with_rows = || self.calls.iter().filter(|call| !call.found.is_empty());
        if self.is_under_way() || with_rows().count() < 2 {
            return;
        }
        // Nobody is asked again who has nothing, so nobody is waited for who does not answer.
        let names: Vec<String> = with_rows().flat_map(|call| call.names.clone()).collect();
        let count: usize = with_rows().map(|call| call.found.len()).sum();
        let params = self.params(&names, count.min(MOST));
        cx.ask(JOINED, self.version, METHOD, params);
    }

    fn take_joined(&mut self, answer: Result<Page<MaterialFound, SearchMeta>, String>) {
        // Without it the list has doubles, and nothing else is wrong with it.
        if let Ok(page) = answer {
            let found = page.data.into_iter();
            self.rows = found.map(|one| Row::Found(Box::new(one))).collect();
        }
    }
}
