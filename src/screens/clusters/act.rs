//! What the actions do with clusters.

use serde_json::{Value, json};

use super::editor::Editor;
use super::{Clusters, TEST};
use crate::app::error_text;
use crate::clusters::unknown_key;
use crate::error::IpcError;
use crate::msg::{Action, Tone};
use crate::rpc::types::{ClusterReport, ClusterViewKind, Reply};
use crate::screens::answers;
use crate::screens::{Cx, Handled, Question, ScreenId, Subject};

/// What can be done in the list, in the order of the footer.
pub(super) const LISTED: &[Action] = &[
    Action::Open,
    Action::Test,
    Action::TrustKey,
    Action::Login,
    Action::New,
    Action::Edit,
    Action::Queue,
    Action::Delete,
    Action::Copy,
];
/// What can be done in the form.
pub(super) const FORM: &[Action] = &[
    Action::Open,
    Action::Submit,
    Action::Select,
    Action::NextPane,
];

const ASK_REMOVE: u32 = 1;
const ASK_KEY: u32 = 2;
/// The token of a list to choose from, in the form.
pub(super) const PICK: u32 = 3;

const REMOVE: &str = "clusters.delete";
const TRUST: &str = "clusters.accept_host_key";

/// What a question is about.
#[derive(Debug)]
pub(super) enum Asked {
    /// Forget this cluster.
    Remove(i64),
    /// Trust the key with this fingerprint.
    Trust(i64, String),
}

impl Clusters {
    /// Those of the actions that mean something for what the cursor is on.
    pub(super) fn useful(&self) -> Vec<Action> {
        if self.editor.is_some() {
            return FORM.to_vec();
        }
        let current = self.current();
        let of_use = |action: &Action| match (action, current) {
            (Action::New, _) => true,
            (_, None) => false,
            (Action::Open, _) => !self.listing.opened,
            (Action::Test, Some(cluster)) => !self.testing.contains_key(&cluster.id),
            (Action::TrustKey, Some(_)) => self.offered_key().is_some(),
            (Action::Queue, Some(cluster)) => cluster.kind == ClusterViewKind::Slurm,
            _ => true,
        };
        LISTED.iter().copied().filter(of_use).collect()
    }

    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        if self.editor.is_some() {
            return self.act_in_form(action, cx);
        }
        match action {
            Action::Test => self.test(cx),
            Action::TrustKey => self.ask_key(cx),
            Action::Login => self.log_in(cx),
            Action::New => self.describe(Editor::new(), cx),
            Action::Edit => {
                if let Some(cluster) = self.current() {
                    self.describe(Editor::of(cluster), cx);
                }
            }
            Action::Queue => self.show_queue(cx),
            Action::Delete => self.ask_remove(cx),
            Action::Copy => {
                if let Some(cluster) = self.current() {
                    cx.copy("name", &cluster.name);
                }
            }
            action => return self.movement(action, cx),
        }
        cx.redraw();
        Handled::Yes
    }

    fn describe(&mut self, editor: Editor, cx: &mut Cx<'_>) {
        self.editor = Some(editor);
        cx.redraw();
    }

    fn show_queue(&self, cx: &mut Cx<'_>) {
        let Some(cluster) = self.current() else {
            return;
        };
        if cluster.kind != ClusterViewKind::Slurm {
            let words = format!("{} has no scheduler", cluster.name);
            return cx.toast(Tone::Info, words);
        }
        cx.open(ScreenId::Queue, Some(Subject::Cluster(cluster.id)));
    }

    fn test(&mut self, cx: &mut Cx<'_>) {
        let Some(cluster) = self.current() else {
            return;
        };
        let id = cluster.id;
        if self.testing.contains_key(&id) {
            let words = format!("{} is already being tried", cluster.name);
            return cx.toast(Tone::Info, words);
        }
        self.try_it(id, cx);
    }

    /// Try this cluster, unless it is being tried.
    pub(super) fn try_it(&mut self, id: i64, cx: &mut Cx<'_>) {
        self.testing.entry(id).or_insert_with(|| {
            cx.send(TEST, id, TEST, json!({"id": id}));
            cx.now()
        });
    }

    pub(super) fn tested(&mut self, id: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        self.testing.remove(&id);
        let found = answers::read(TEST, result).map(|reply: Reply<ClusterReport>| reply.data);
        let name = self.rows.iter().find(|one| one.id == id);
        let name = name.map_or_else(|| id.to_string(), |one| one.name.clone());
        match &found {
            Err(error) => cx.toast(Tone::Bad, format!("{name} was not tried: {error}")),
            Ok(report) if report.reachable && report.problems.is_empty() => {
                cx.toast(Tone::Good, format!("{name}: nothing is wrong"));
            }
            Ok(report) => {
                let count = report.problems.len().max(1);
                let many = if count == 1 { "" } else { "s" };
                cx.toast(Tone::Warn, format!("{name}: {count} problem{many}"));
            }
        }
        self.reports.insert(id, found);
        self.read(cx);
    }

    /// The key that the current cluster shows and that is not known.
    fn offered_key(&self) -> Option<(String, String)> {
        let report = self.report(self.current()?)?.ok()?;
        unknown_key(report)
    }

    fn ask_key(&mut self, cx: &mut Cx<'_>) {
        let Some(cluster) = self.current() else {
            return;
        };
        let Some((kind, fingerprint)) = self.offered_key() else {
            let words = format!(
                "{} shows no key that is not known; a test finds out what it shows",
                cluster.name
            );
            return cx.toast(Tone::Info, words);
        };
        let question = Question {
            title: format!("Trust the key of {}?", cluster.name),
            lines: vec![
                format!("It shows the {kind} key"),
                fingerprint.clone(),
                "Compare it with what the site publishes: whoever".into(),
                "stands in between could show another one.".into(),
            ],
            yes: "It is the same".into(),
        };
        self.asked = Some(Asked::Trust(cluster.id, fingerprint));
        cx.question(ASK_KEY, question);
    }

    fn ask_remove(&mut self, cx: &mut Cx<'_>) {
        let Some(cluster) = self.current() else {
            return;
        };
        let question = Question {
            title: format!("Forget 1 cluster, {}?", cluster.name),
            lines: vec![
                format!("{} in {}", cluster.hostname, cluster.remote_workdir),
                "Its description goes; nothing is removed there.".into(),
                "Jobs that have ended keep its name.".into(),
            ],
            yes: "Forget it".into(),
        };
        self.asked = Some(Asked::Remove(cluster.id));
        cx.question(ASK_REMOVE, question);
    }

    pub(super) fn answered(&mut self, token: u32, yes: bool, cx: &mut Cx<'_>) {
        let asked = self.asked.take();
        if !yes {
            return;
        }
        self.left(token, cx);
        match (token, asked) {
            (ASK_REMOVE, Some(Asked::Remove(id))) => {
                cx.send(REMOVE, id, REMOVE, json!({"id": id}));
            }
            (ASK_KEY, Some(Asked::Trust(id, fingerprint))) => {
                let params = json!({"id": id, "fingerprint": fingerprint});
                cx.send(TRUST, id, TRUST, params);
            }
            _ => {}
        }
    }

    /// Take in the answer of something that was to be done.
    pub(super) fn done(
        &mut self,
        slot: &str,
        id: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        match (slot, result) {
            (REMOVE, Ok(_)) => cx.toast(Tone::Good, "the cluster is forgotten"),
            (REMOVE, Err(error)) => {
                cx.toast(Tone::Bad, format!("not forgotten: {}", error_text(error)));
            }
            (TRUST, Ok(_)) => {
                cx.toast(
                    Tone::Good,
                    "the key is known now; the cluster is tried again",
                );
                self.reports.remove(&id);
                self.try_it(id, cx);
            }
            (TRUST, Err(error)) => {
                cx.toast(Tone::Bad, format!("not trusted: {}", error_text(error)));
            }
            _ => {}
        }
        self.read(cx);
        cx.redraw();
    }
}
