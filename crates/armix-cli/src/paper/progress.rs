//! One bar for everything that is to be done, measured by the time that it was estimated to take.

use crate::output::say;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The bar is redrawn this often.
const REDRAW: Duration = Duration::from_millis(200);
/// Lines are written this often where there is no terminal.
const LINE: Duration = Duration::from_secs(30);

enum Show {
    Nothing,
    Bar(ProgressBar),
    Lines,
}

pub(crate) struct Progress {
    show: Show,
    /// Estimated seconds of all.
    total: f64,
    began: Instant,
    now: Mutex<Now>,
}

struct Now {
    done: f64,
    shown: Instant,
    doing: String,
}

impl Progress {
    pub(crate) fn new(total: f64, quiet: bool) -> Self {
        let show = match (quiet, console::Term::stderr().is_term()) {
            (true, _) => Show::Nothing,
            (false, true) => {
                let style = ProgressStyle::with_template("{bar:30} {percent:>3} % {wide_msg}");
                let bar = ProgressBar::new(1000);
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                Show::Bar(bar)
            }
            (false, false) => Show::Lines,
        };
        let now = Now { done: 0.0, shown: Instant::now(), doing: String::new() };
        Progress { show, total, began: Instant::now(), now: Mutex::new(now) }
    }

    /// What is being done now.
    pub(crate) fn doing(&self, what: &str) {
        if let Ok(mut now) = self.now.lock() {
            now.doing = what.to_string();
        }
    }

    /// So many estimated seconds more are done.
    pub(crate) fn advance(&self, seconds: f64) {
        let Ok(mut now) = self.now.lock() else { return };
        now.done += seconds;
        let pause = if matches!(self.show, Show::Bar(_)) { REDRAW } else { LINE };
        if now.shown.elapsed() < pause {
            return;
        }
        now.shown = Instant::now();
        let share = (now.done / self.total.max(1e-9)).clamp(0.0, 1.0);
        let taken = self.began.elapsed().as_secs_f64();
        let left = taken * (1.0 - share) / share.max(1e-6);
        let left = HumanDuration(Duration::from_secs(left.min(1e8) as u64));
        let message = format!("{}, about {left} left", now.doing);
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.set_position((1000.0 * share) as u64);
                bar.set_message(message);
            }
            Show::Lines => say(&format!("{:.0} % done: {message}", 100.0 * share)),
        }
    }

    /// Makes room for other text.
    pub(crate) fn finish(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
    }

    /// Runs something that writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.show {
            Show::Bar(bar) => bar.suspend(write),
            _ => write(),
        }
    }
}
