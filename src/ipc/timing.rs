//! Every duration and count of the client in one place, so that tests can set them small.

use std::time::Duration;

/// How long the client waits for what.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// For the connection itself; a full backlog counts as busy afterwards.
    pub connect: Duration,
    /// For one hello, before it is repeated.
    pub hello_try: Duration,
    /// The first pause between two hellos; it doubles up to `hello_pause_max`.
    pub hello_pause: Duration,
    /// The longest pause between two hellos.
    pub hello_pause_max: Duration,
    /// For a daemon to start, or to answer hello at all.
    pub start: Duration,
    /// The most that progress lines can renew `start` to.
    pub start_max: Duration,
    /// The user hears that a start takes a while after this.
    pub notice_after: Duration,
    /// Between two looks at something that cannot be waited for (a lock, a full backlog).
    pub poll: Duration,
    /// Added to a method's own deadline, so that the daemon's answer about it arrives first.
    pub call_margin: Duration,
    /// The deadline of a method that is not in the table.
    pub call_default: Duration,
    /// The first pause before a reconnect; it doubles up to `reconnect_max`.
    pub reconnect: Duration,
    /// The longest pause before a reconnect.
    pub reconnect_max: Duration,
    /// How long a blocked write may hold up the deadlines of other calls.
    pub write_tick: Duration,
    /// The window in which at most `spawns_max` daemons are started.
    pub spawn_window: Duration,
    /// How many daemons may be started within `spawn_window`.
    pub spawns_max: usize,
    /// How many calls may wait to be sent.
    pub queue: usize,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_millis(500),
            hello_try: Duration::from_secs(2),
            hello_pause: Duration::from_millis(250),
            hello_pause_max: Duration::from_secs(2),
            start: Duration::from_secs(30),
            start_max: Duration::from_secs(60),
            notice_after: Duration::from_secs(1),
            poll: Duration::from_millis(10),
            call_margin: Duration::from_secs(2),
            call_default: Duration::from_secs(30),
            reconnect: Duration::from_millis(50),
            reconnect_max: Duration::from_secs(5),
            write_tick: Duration::from_millis(100),
            spawn_window: Duration::from_secs(60),
            spawns_max: 3,
            queue: 64,
        }
    }
}
