//! What the actions do with a queue.

use serde_json::{Value, json};

use super::{Mark, Queue, SETTLED_S};
use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::{Action, Tone};
use crate::queue::Entry;
use crate::rpc::types::{
    Page, Reply, SchedulerOutcome, SchedulerOutcomeOutcome, SchedulerOutcomesMeta, SubmitResult,
};
use crate::screens::wording::speak;
use crate::screens::{Cx, Handled, Question, ScreenId, Subject};

/// What can be done, in the order of the footer.
pub(super) const ACTIONS: &[Action] = &[
    Action::Open,
    Action::Cancel,
    Action::Release,
    Action::Adopt,
    Action::AllUsers,
    Action::NextFile,
    Action::PreviousFile,
    Action::Copy,
];

const ASK_CANCEL: u32 = 1;
const CANCEL: &str = "slurm.cancel";
const RELEASE: &str = "slurm.release";
const ADOPT: &str = "slurm.adopt";

impl Queue {
    /// Those of the actions that mean something for what the cursor is on.
    pub(super) fn useful(&self) -> Vec<Action> {
        let current = self.current();
        let ours = current.and_then(Entry::job);
        let of_use = |action: &Action| match (action, current) {
            (Action::AllUsers, _) => self.chosen.is_some(),
            (Action::NextFile | Action::PreviousFile, _) => self.clusters.len() > 1,
            (_, None) => false,
            (Action::Open, _) => !self.listing.opened || ours.is_some(),
            (Action::Release, Some(entry)) => entry.is_held(),
            (Action::Adopt, _) => ours.is_none(),
            (Action::Cancel, Some(entry)) => entry.is_under_way(),
            _ => true,
        };
        ACTIONS.iter().copied().filter(of_use).collect()
    }

    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        match action {
            Action::Cancel => self.ask_cancel(cx),
            Action::Release => self.release(cx),
            Action::Adopt => self.adopt(cx),
            Action::AllUsers => {
                self.all_users ^= true;
                self.listing.close();
                self.error = None;
                self.look(cx);
            }
            Action::NextFile => self.turn(1, cx),
            Action::PreviousFile => self.turn(-1, cx),
            Action::Copy => {
                if let Some(entry) = self.current() {
                    cx.copy("id", &entry.base_id.to_string());
                }
            }
            Action::Open if self.listing.opened => match self.current().and_then(Entry::job) {
                Some(job) => cx.open(ScreenId::Job, Some(Subject::Job(job))),
                None => cx.toast(
                    Tone::Info,
                    "this job is not known here; adopt it to follow it",
                ),
            },
            action => return self.movement(action, cx),
        }
        cx.redraw();
        Handled::Yes
    }

    /// Look at this cluster from now on.
    pub(super) fn choose(&mut self, id: i64) {
        if self.chosen != Some(id) {
            self.chosen = Some(id);
            self.marks.clear();
            self.error = None;
            self.listing.close();
        }
    }

    fn turn(&mut self, by: isize, cx: &mut Cx<'_>) {
        let mut clusters = self.clusters.iter();
        let at = clusters.position(|one| Some(one.id) == self.chosen);
        let count = self.clusters.len().cast_signed();
        let Some(at) = at.filter(|_| count > 1) else {
            return cx.toast(Tone::Info, "there is no other cluster with a scheduler");
        };
        let to = (at.cast_signed() + by).rem_euclid(count);
        if let Some(id) = self.clusters.get(to.cast_unsigned()).map(|one| one.id) {
            self.choose(id);
            self.look(cx);
        }
    }

    fn ask_cancel(&mut self, cx: &mut Cx<'_>) {
        let Some(entry) = self.current() else { return };
        let id = entry.base_id;
        if !entry.is_under_way() {
            return cx.toast(Tone::Info, format!("{id} has ended"));
        }
        let lead = entry.lead().cloned().unwrap_or_default();
        let mut lines = vec![
            format!("{} of {}", lead.name, lead.user),
            format!("{}: {}", entry.id_text(), entry.state_text()),
        ];
        lines.extend(lead.job.map(|job| format!("It is job {job} here.")));
        let many = match entry.size() {
            (1, _) => String::new(),
            _ => ", all of it".into(),
        };
        let question = Question {
            title: format!("Cancel job {id} of the scheduler{many}?"),
            lines,
            yes: "Cancel it".into(),
        };
        self.question = Some(id);
        cx.question(ASK_CANCEL, question);
    }

    pub(super) fn answered(&mut self, yes: bool, cx: &mut Cx<'_>) {
        let asked = self.question.take();
        if let Some(id) = asked.filter(|_| yes) {
            self.send(CANCEL, id, Mark::Cancelling, cx);
        }
    }

    fn release(&mut self, cx: &mut Cx<'_>) {
        let Some(entry) = self.current() else { return };
        let id = entry.base_id;
        if !entry.is_held() {
            return cx.toast(Tone::Info, format!("{id} is not held"));
        }
        self.send(RELEASE, id, Mark::Releasing, cx);
    }

    fn send(&mut self, method: &'static str, id: i64, mark: Mark, cx: &mut Cx<'_>) {
        let Some(cluster) = self.chosen else { return };
        let params = json!({"cluster": cluster, "job_ids": [id.to_string()]});
        cx.send(method, id, method, params);
        self.marks.insert(id, mark);
        cx.redraw();
    }

    fn adopt(&mut self, cx: &mut Cx<'_>) {
        let (Some(entry), Some(cluster)) = (self.current(), self.chosen) else {
            return;
        };
        let id = entry.base_id;
        if let Some(job) = entry.job() {
            return cx.toast(Tone::Info, format!("{id} is job {job} here"));
        }
        if self.marks.contains_key(&id) {
            return;
        }
        let params = json!({"cluster": cluster, "job_id": id.to_string()});
        cx.send(ADOPT, id, ADOPT, params);
        self.marks.insert(id, Mark::Adopting);
    }

    /// Take in the answer of something that was to be done.
    pub(super) fn done(
        &mut self,
        slot: &str,
        id: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        cx.redraw();
        let verb = match slot {
            CANCEL => "cancelled",
            RELEASE => "released",
            _ => "adopted",
        };
        match result {
            Err(error) => {
                self.marks.remove(&id);
                let words = format!("{id} is not {verb}: {}", error_text(error));
                cx.toast(Tone::Bad, words);
                return;
            }
            Ok(value) if slot == ADOPT => {
                self.marks.remove(&id);
                adopted(id, value, cx);
            }
            Ok(value) => self.told(id, verb, value, cx),
        }
        self.look_at = Some(cx.now() + SETTLED_S);
    }

    /// What the scheduler said; that it was asked is no proof, so it is looked again.
    fn told(&mut self, id: i64, verb: &str, value: &Value, cx: &mut Cx<'_>) {
        let page: Page<SchedulerOutcome, SchedulerOutcomesMeta> =
            serde_json::from_value(value.clone()).unwrap_or_default();
        let failed = |one: &SchedulerOutcome| one.outcome == SchedulerOutcomeOutcome::NotDone;
        if page.data.iter().any(failed) {
            self.marks.remove(&id);
            let why = page.meta.trouble.as_deref().map(speak);
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            return cx.toast(Tone::Bad, format!("{id} is not {verb}{why}"));
        }
        cx.toast(Tone::Info, format!("the scheduler was asked about {id}"));
    }
}

fn adopted(id: i64, value: &Value, cx: &mut Cx<'_>) {
    let reply: Reply<SubmitResult> = serde_json::from_value(value.clone()).unwrap_or_default();
    match reply.data.job {
        Some(job) => {
            cx.toast(Tone::Good, format!("{id} is job {} here now", job.id));
            cx.take_job(job);
        }
        None => cx.toast(Tone::Warn, format!("{id}: the daemon names no job")),
    }
}
