//! Everything that a user can ask for, in one table: the words of the key map, the footer, the
//! palette, the help and the tests.
//!
//! To add an action, add one row here and name it in `Screen::actions` of the screens that do it.

/// Where an action works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// On every screen.
    Everywhere,
    /// On the screens that name it in their list.
    Screen,
}

/// The heading in the help under which an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// What is done with jobs and other things.
    Do,
    /// Ways to look.
    View,
    /// Moving about.
    Move,
    /// The program itself.
    Program,
}

impl Group {
    /// The heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Do => "Do",
            Self::View => "View",
            Self::Move => "Move",
            Self::Program => "Program",
        }
    }
}

/// What is known of an action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// The action.
    pub action: Action,
    /// Its name in `ui.toml` and in the palette.
    pub name: &'static str,
    /// One or two words, for the footer.
    pub title: &'static str,
    /// One line, for help and palette.
    pub help: &'static str,
    /// Its heading in the help.
    pub group: Group,
    /// Where it works.
    pub scope: Scope,
    /// Whether it takes something away; then it asks before, and its key means nothing else.
    pub destructive: bool,
    /// The keys it has when the user says nothing else.
    pub keys: &'static [&'static str],
}

macro_rules! actions {
    ($($variant:ident $name:literal $title:literal $group:ident $scope:ident $($mark:ident)?
       [$($key:literal),*]; $help:literal;)+) => {
        /// Something that a user can ask for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $help] $variant,)+
        }

        /// Every action, in the order of footer and help.
        const TABLE: &[Info] = &[$(Info {
            action: Action::$variant,
            name: $name,
            title: $title,
            help: $help,
            group: Group::$group,
            scope: Scope::$scope,
            destructive: actions!(@mark $($mark)?),
            keys: &[$($key),*],
        }),+];
    };
    (@mark) => { false };
    (@mark destructive) => { true };
}

actions! {
    Open "open" "open" Do Screen ["enter"];
        "Go into what the cursor is on.";
    Cancel "cancel" "cancel" Do Screen destructive ["c"];
        "End jobs or a workflow, with everything they started; on the engines a worker or an installation.";
    Rerun "rerun" "rerun" Do Screen ["r"];
        "Submit jobs again, from the same input; run a step of a workflow again that did not complete.";
    Continue "continue" "continue" Do Screen ["R"];
        "Go on where a job stopped that did not complete, as a new job; or with a workflow that waits.";
    New "new" "new" Do Screen ["a"];
        "Submit a new job, by files and a form; start a workflow; describe a cluster: as the screen is.";
    Workflow "workflow" "workflow" Do Screen ["F"];
        "Start a workflow, by a form: from the structure or the job with the cursor, if there is one.";
    Jobs "jobs" "its jobs" Do Screen ["J"];
        "The jobs of the workflow, in the job list.";
    Submit "submit" "submit" Do Screen ["ctrl-s"];
        "Submit what the form says.";
    Delete "delete" "delete" Do Screen destructive ["d"];
        "Remove ended jobs from the list, their files stay; on the clusters forget one.";
    Copy "copy" "copy" Do Screen ["y"];
        "Copy the number or the path of the job, or the name or value.";
    OpenFile "open-file" "open file" Do Screen ["o"];
        "Open the file in your pager; a deck in your editor.";
    Save "save" "save" Do Screen ["W"];
        "Write what is shown to a file, after asking where.";
    Shell "shell" "shell" Do Screen ["!"];
        "Open a shell in the job's directory.";
    Import "import" "import" Do Screen ["I"];
        "Take a structure file in, so that it is found here by name.";
    Deck "deck" "deck" Do Screen ["b"];
        "Write a CRYSTAL deck for the structure, by a form with the deck beside it.";
    Edit "edit" "edit" Do Screen ["e"];
        "Change the description of the cluster.";
    Test "test" "test" Do Screen ["t"];
        "Try the cluster part by part; it changes nothing there.";
    TrustKey "trust-key" "trust key" Do Screen ["K"];
        "Trust the key that a host shows, once its fingerprint was compared.";
    Login "login" "log in" Do Screen ["P"];
        "Log in to the cluster: passphrase, password, or what else its host asks.";
    Queue "queue" "queue" Do Screen ["Q"];
        "The queue of the cluster.";
    Adopt "adopt" "adopt" Do Screen ["A"];
        "Follow a job here that was submitted to the cluster by hand.";
    Release "release" "release" Do Screen ["U"];
        "Let a held job of the queue go on.";
    AllUsers "all-users" "everybody" View Screen ["*"];
        "Everybody's jobs in the queue, or only your own.";
    Install "install" "install" Do Screen ["i"];
        "Build the environment of an engine and fetch its models, after asking.";
    Doctor "doctor" "doctor" Do Screen ["D"];
        "Check an engine: what it loads, its forces and stress against its energies.";
    Unused "unused" "unused" Do Screen destructive ["u"];
        "Remove environments and models that nothing needs, after showing them.";
    Select "select" "select" Do Screen ["space"];
        "Select the row, or take it out of the selection.";
    SelectRange "select-range" "range" Do Screen ["v"];
        "Select every row from here to where the cursor goes.";
    Filter "filter" "filter" View Screen ["/"];
        "Show only rows that fit: state:failed >2d name~MgO; search in texts, or for structures.";
    Sort "sort" "sort" View Screen ["s"];
        "Sort by the next column.";
    SortReverse "sort-reverse" "reverse" View Screen ["S"];
        "Sort the other way round.";
    Columns "columns" "columns" View Screen ["C"];
        "Choose the columns.";
    Log "log" "log" View Screen ["L"];
        "The log over the whole window.";
    Follow "follow" "follow" View Screen ["f"];
        "Keep to the end of the log as it grows.";
    Wrap "wrap" "wrap" View Screen ["w"];
        "Break long lines, or let them go on to the right.";
    Stream "stream" "stderr" View Screen ["E"];
        "Change between the program's output, stdout and stderr.";
    NextFile "next-file" "next" View Screen ["]"];
        "To the next file, curve, table or cluster.";
    PreviousFile "previous-file" "previous" View Screen ["["];
        "To the file, curve, table or cluster before.";
    FindNext "find-next" "next hit" View Screen ["n"];
        "To the next place where the search fits, or to the next mark.";
    FindPrevious "find-previous" "hit before" View Screen ["N"];
        "To the place before where the search fits, or to the mark before.";
    LogScale "log-scale" "log scale" View Screen ["x"];
        "Draw a curve by its logarithm, or as it is.";
    Preview "preview" "preview" View Screen ["p"];
        "What would be written and started: the deck, then the rest.";
    TurnRight "turn-right" "turn" View Screen [">", "shift-right"];
        "Turn the drawn cell to the right.";
    TurnLeft "turn-left" "turn left" View Screen ["<", "shift-left"];
        "Turn the drawn cell to the left.";
    TurnUp "turn-up" "turn up" View Screen ["}", "shift-up"];
        "Turn the drawn cell upwards.";
    TurnDown "turn-down" "turn down" View Screen ["{", "shift-down"];
        "Turn the drawn cell downwards.";
    AlongAxis "along-axis" "along axis" View Screen ["V"];
        "Look along the next axis of the cell.";
    Images "images" "images" View Screen ["X"];
        "Draw two cells along each axis, or one.";
    Larger "larger" "larger" View Screen ["+"];
        "Draw the cell larger.";
    Smaller "smaller" "smaller" View Screen ["minus"];
        "Draw the cell smaller.";
    Cell "cell" "cell" View Screen ["B"];
        "Draw the conventional cell of a crystal, or the one that is given.";
    Zoom "zoom" "zoom" View Everywhere ["z"];
        "Give the pane the whole window, or take it back.";
    Theme "theme" "theme" View Everywhere ["T"];
        "Choose the colours.";
    Refresh "refresh" "refresh" View Everywhere ["ctrl-r"];
        "Read everything again, and connect if there is no connection.";
    Down "down" "down" Move Everywhere ["j", "down"];
        "One row down.";
    Up "up" "up" Move Everywhere ["k", "up"];
        "One row up.";
    Left "left" "left" Move Everywhere ["h", "left"];
        "To the left.";
    Right "right" "right" Move Everywhere ["l", "right"];
        "To the right.";
    Top "top" "top" Move Everywhere ["g", "home"];
        "To the first row.";
    Bottom "bottom" "bottom" Move Everywhere ["G", "end"];
        "To the last row.";
    HalfPageDown "half-page-down" "half page" Move Everywhere ["ctrl-d"];
        "Half a page down.";
    HalfPageUp "half-page-up" "half page" Move Everywhere ["ctrl-u"];
        "Half a page up.";
    PageDown "page-down" "page" Move Everywhere ["pgdn"];
        "A page down.";
    PageUp "page-up" "page" Move Everywhere ["pgup"];
        "A page up.";
    NextPane "next-pane" "pane" Move Everywhere ["tab"];
        "To the next pane or tab.";
    PreviousPane "previous-pane" "pane" Move Everywhere ["shift-tab"];
        "To the pane or tab before.";
    Screen1 "screen-1" "screen 1" Move Everywhere ["1"]; "To the jobs.";
    Screen2 "screen-2" "screen 2" Move Everywhere ["2"]; "To the queues of the clusters.";
    Screen3 "screen-3" "screen 3" Move Everywhere ["3"]; "To the workflows.";
    Screen4 "screen-4" "screen 4" Move Everywhere ["4"]; "To the materials.";
    Screen5 "screen-5" "screen 5" Move Everywhere ["5"]; "To the templates.";
    Screen6 "screen-6" "screen 6" Move Everywhere ["6"]; "To the engines.";
    Screen7 "screen-7" "screen 7" Move Everywhere ["7"]; "To the clusters.";
    Back "back" "back" Program Everywhere ["esc"];
        "Out of this; clears a selection or a filter first.";
    Palette "palette" "command" Program Everywhere [":"];
        "Find any action by its name, or a job by its number or name.";
    Help "help" "help" Program Everywhere ["?"];
        "Every key that works here, then all others.";
    Messages "messages" "messages" Program Everywhere ["m"];
        "The messages that were shown.";
    Quit "quit" "quit" Program Everywhere ["q", "ctrl-c"];
        "Go back, and at the end leave. Jobs and daemon go on.";
}

impl Action {
    /// Every action with what is known of it.
    #[must_use]
    pub const fn all() -> &'static [Info] {
        TABLE
    }

    /// What is known of this action.
    #[must_use]
    pub fn info(self) -> &'static Info {
        // The enum and the table are made of the same rows, in the same order.
        &TABLE[self as usize]
    }

    /// The action with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TABLE
            .iter()
            .find(|info| info.name == name)
            .map(|info| info.action)
    }

    /// For an action that goes to a screen, the screen's number.
    #[must_use]
    pub const fn screen_number(self) -> Option<u8> {
        match self {
            Self::Screen1 => Some(1),
            Self::Screen2 => Some(2),
            Self::Screen3 => Some(3),
            Self::Screen4 => Some(4),
            Self::Screen5 => Some(5),
            Self::Screen6 => Some(6),
            Self::Screen7 => Some(7),
            _ => None,
        }
    }
}
