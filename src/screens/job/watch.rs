//! Has the daemon tell when the log of one job grows, as long as that log is seen.
//!
//! A daemon that cannot tell is asked once a second by the log itself.

use crate::app::Data;
use crate::screens::Cx;

/// Which log is told about.
#[derive(Debug, Default)]
pub struct Watch(Option<i64>);

impl Watch {
    /// Whether the daemon tells by itself.
    #[must_use]
    pub const fn is_told(&self, data: &Data) -> bool {
        data.has_events && self.0.is_some()
    }

    /// Be told about this job's log, or about none.
    pub fn set(&mut self, job: Option<i64>, cx: &mut Cx<'_>) {
        if job != self.0 {
            self.0 = job;
            cx.watch_log(job);
        }
    }
}
