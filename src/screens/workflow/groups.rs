//! The steps of a workflow as rows: each as deep as the steps that it waits for, and many of one sort,
//! like `displacement-1` to `displacement-40`, as one row that can be opened. Pure.

use std::collections::{BTreeSet, HashMap};

use crate::rpc::types::{StepState, StepView};

/// From so many steps on, those of one sort are one row.
const MANY: usize = 4;
/// Steps that stand deeper are not moved further in.
const DEEPEST: usize = 6;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// Steps of one sort, and whether they are seen below it.
    Group {
        /// What their names begin with.
        name: String,
        /// Their places among the steps.
        members: Vec<usize>,
        /// Whether all of them are seen.
        opened: bool,
        /// How many steps stand before them.
        depth: usize,
    },
    /// A step.
    Step {
        /// Its place among the steps.
        index: usize,
        /// How many steps stand before it.
        depth: usize,
    },
}

impl Row {
    /// What it is known by, also when rows come and go.
    pub fn name<'a>(&'a self, steps: &'a [StepView]) -> &'a str {
        match self {
            Self::Group { name, .. } => name,
            Self::Step { index, .. } => steps.get(*index).map_or("", |step| &step.name),
        }
    }
}

/// The rows; of a group that is not in `opened` only those are seen that did not end well.
pub fn rows(steps: &[StepView], opened: &BTreeSet<String>) -> Vec<Row> {
    let depths = depths(steps);
    let mut sorts: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        if let Some(sort) = sort_of(&step.name) {
            sorts.entry(sort).or_default().push(index);
        }
    }
    sorts.retain(|_, members| members.len() >= MANY);
    let mut rows = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let depth = depths[index];
        let sort = sort_of(&step.name);
        let members = sort.and_then(|sort| sorts.get(sort));
        let (Some(sort), Some(members)) = (sort, members) else {
            rows.push(Row::Step { index, depth });
            continue;
        };
        if members.first() != Some(&index) {
            continue;
        }
        let is_opened = opened.contains(sort);
        rows.push(Row::Group {
            name: sort.to_owned(),
            members: members.clone(),
            opened: is_opened,
            depth,
        });
        let stopped = |at: &&usize| is_opened || has_stopped(&steps[**at]);
        let seen = members.iter().filter(stopped);
        rows.extend(seen.map(|at| Row::Step {
            index: *at,
            depth: depth + 1,
        }));
    }
    rows
}

/// Whether a step ended otherwise than well.
pub const fn has_stopped(step: &StepView) -> bool {
    matches!(step.state, StepState::Failed | StepState::Cancelled)
}

/// What a name begins with that ends with a number: `volume` of `volume-3`.
fn sort_of(name: &str) -> Option<&str> {
    let (sort, number) = name.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !sort.is_empty()).then_some(sort)
}

/// How many steps one after the other stand before each.
fn depths(steps: &[StepView]) -> Vec<usize> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut depths = Vec::with_capacity(steps.len());
    // Each waits for steps that were added before it.
    for step in steps {
        let before = step.after.iter();
        let before = before.filter_map(|name| known.get(name.as_str()));
        let depth = before.max().map_or(0, |depth| (depth + 1).min(DEEPEST));
        known.insert(&step.name, depth);
        depths.push(depth);
    }
    depths
}

/// How many of these steps are where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All.
    pub total: usize,
    /// Ended well.
    pub done: usize,
    /// On the way.
    pub running: usize,
    /// Failed or cancelled.
    pub stopped: usize,
}

/// Count these steps.
pub fn count(steps: &[StepView], members: &[usize]) -> Counts {
    let mut counts = Counts {
        total: members.len(),
        ..Counts::default()
    };
    for step in members.iter().filter_map(|at| steps.get(*at)) {
        match step.state {
            StepState::Completed => counts.done += 1,
            StepState::Running => counts.running += 1,
            StepState::Failed | StepState::Cancelled => counts.stopped += 1,
            _ => {}
        }
    }
    counts
}

impl Counts {
    /// `12/40 done, 3 running, 1 failed`.
    pub fn words(&self) -> String {
        let done = format!("{}/{} done", self.done, self.total);
        match self.rest() {
            rest if rest.is_empty() => done,
            rest => format!("{done}, {rest}"),
        }
    }

    /// What is to be said beside how many are done: `3 running, 1 failed`.
    pub fn rest(&self) -> String {
        let rest = [(self.running, "running"), (self.stopped, "failed")];
        let rest = rest.iter().filter(|(count, _)| *count > 0);
        let rest: Vec<String> = rest
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        rest.join(", ")
    }

    /// The state of all together: what runs counts first, then what failed.
    pub const fn state(&self) -> StepState {
        if self.running > 0 {
            StepState::Running
        } else if self.stopped > 0 {
            StepState::Failed
        } else if self.done == self.total {
            StepState::Completed
        } else {
            StepState::Pending
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, state: StepState, after: &[&str]) -> StepView {
        StepView {
            name: name.into(),
            state,
            after: after.iter().map(|name| (*name).to_owned()).collect(),
            ..StepView::default()
        }
    }

    fn phonon() -> Vec<StepView> {
        let mut steps = vec![
            step("relax", StepState::Completed, &[]),
            step("plan", StepState::Completed, &["relax"]),
        ];
        for number in 1..=40 {
            let state = match number {
                1..=12 => StepState::Completed,
                13 => StepState::Failed,
                14 | 15 => StepState::Running,
                _ => StepState::Pending,
            };
            steps.push(step(&format!("displacement-{number}"), state, &["plan"]));
        }
        steps
    }

    #[test]
    fn many_of_one_sort_are_one_row_with_those_that_failed_below() {
        let steps = phonon();
        let folded = rows(&steps, &BTreeSet::new());
        let names: Vec<&str> = folded.iter().map(|row| row.name(&steps)).collect();
        assert_eq!(names, ["relax", "plan", "displacement", "displacement-13"]);
        let Row::Group { members, depth, .. } = &folded[2] else {
            panic!("{folded:?}");
        };
        assert_eq!(*depth, 2);
        let counts = count(&steps, members);
        assert_eq!(counts.words(), "12/40 done, 2 running, 1 failed");
        assert_eq!(counts.state(), StepState::Running);
        let opened = BTreeSet::from(["displacement".to_owned()]);
        assert_eq!(rows(&steps, &opened).len(), 43);
    }

    #[test]
    fn a_few_stand_by_themselves() {
        let steps: Vec<StepView> = (1..=3)
            .map(|number| step(&format!("volume-{number}"), StepState::Pending, &["gone"]))
            .collect();
        let rows = rows(&steps, &BTreeSet::new());
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0], Row::Step { index: 0, depth: 0 });
        assert_eq!(sort_of("volume-x"), None);
        assert_eq!(sort_of("-3"), None);
    }
}
