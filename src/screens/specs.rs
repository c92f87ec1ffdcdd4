//! Every screen there is: its name, where it lives, and how it is made.

use super::{
    Place, ScreenId, Spec, clusters, engines, job, jobs, materials, new_job, new_workflow, queue,
    templates, workflow, workflows,
};
use crate::msg::Action;

/// Every screen there is.
pub const SPECS: &[Spec] = &[
    Spec {
        id: ScreenId::Jobs,
        title: "Jobs",
        place: Place::Tab(1),
        opened_by: None,
        make: |config| Box::new(jobs::Jobs::new(config)),
    },
    Spec {
        id: ScreenId::Job,
        title: "Job",
        place: Place::DetailOf(ScreenId::Jobs),
        opened_by: None,
        make: |_| Box::<job::JobScreen>::default(),
    },
    Spec {
        id: ScreenId::NewJob,
        title: "New job",
        place: Place::Over,
        opened_by: Some(Action::New),
        make: |_| Box::<new_job::NewJob>::default(),
    },
    Spec {
        id: ScreenId::Queue,
        title: "Queue",
        place: Place::Tab(2),
        opened_by: None,
        make: |_| Box::<queue::Queue>::default(),
    },
    Spec {
        id: ScreenId::Workflows,
        title: "Workflows",
        place: Place::Tab(3),
        opened_by: None,
        make: |_| Box::<workflows::Workflows>::default(),
    },
    Spec {
        id: ScreenId::Workflow,
        title: "Workflow",
        place: Place::DetailOf(ScreenId::Workflows),
        opened_by: None,
        make: |_| Box::<workflow::WorkflowScreen>::default(),
    },
    Spec {
        id: ScreenId::NewWorkflow,
        title: "New workflow",
        place: Place::Over,
        opened_by: Some(Action::Workflow),
        make: |_| Box::<new_workflow::NewWorkflow>::default(),
    },
    Spec {
        id: ScreenId::Materials,
        title: "Materials",
        place: Place::Tab(4),
        opened_by: None,
        make: |_| Box::<materials::Materials>::default(),
    },
    Spec {
        id: ScreenId::Templates,
        title: "Templates",
        place: Place::Tab(5),
        opened_by: None,
        make: |_| Box::<templates::Templates>::default(),
    },
    Spec {
        id: ScreenId::Engines,
        title: "Engines",
        place: Place::Tab(6),
        opened_by: None,
        make: |_| Box::<engines::Engines>::default(),
    },
    Spec {
        id: ScreenId::Clusters,
        title: "Clusters",
        place: Place::Tab(7),
        opened_by: None,
        make: |_| Box::<clusters::Clusters>::default(),
    },
];
