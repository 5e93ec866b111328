//! Progress on standard error: a bar for each ensemble on a terminal, now and then a line elsewhere.

use crate::output::say;
use armix::ensemble::{Status, View};
use armix::run::Settings;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// Bars are redrawn this often.
const REDRAW: Duration = Duration::from_millis(100);
/// Lines are written this often.
const LINE: Duration = Duration::from_secs(5);

enum Show {
    Nothing,
    Bars(Vec<ProgressBar>),
    Lines,
}

/// Shows how far a run is.
pub(crate) struct Progress {
    show: Show,
    iterations: usize,
    warmup: usize,
    ensembles: usize,
    sampling_since: Option<Instant>,
    shown: Instant,
}

impl Progress {
    pub(crate) fn new(settings: &Settings, quiet: bool) -> Self {
        let show = match (quiet, console::Term::stderr().is_term()) {
            (true, _) => Show::Nothing,
            (false, true) => Show::Bars(bars(settings)),
            (false, false) => Show::Lines,
        };
        Progress {
            show,
            iterations: settings.iterations,
            warmup: settings.warmup,
            ensembles: settings.ensembles,
            sampling_since: None,
            shown: Instant::now(),
        }
    }

    /// The run will have so many iterations.
    pub(crate) fn set_iterations(&mut self, iterations: usize) {
        self.iterations = iterations;
        if let Show::Bars(bars) = &self.show {
            bars.iter().for_each(|bar| bar.set_length(iterations as u64));
        }
    }

    /// Says something without disturbing the bars.
    pub(crate) fn suspend(&self, speak: impl FnOnce()) {
        match &self.show {
            Show::Bars(bars) if !bars.is_empty() => bars[0].suspend(speak),
            _ => speak(),
        }
    }

    pub(crate) fn finish(&mut self) {
        if let Show::Bars(bars) = &self.show {
            bars.iter().for_each(ProgressBar::finish);
        }
    }

    /// Iterations a second and the time left, once both are known.
    fn pace(&self, done: usize) -> String {
        match self.sampling_since {
            Some(since) if done > 0 => {
                let rate = done as f64 / since.elapsed().as_secs_f64().max(1e-9);
                let left = self.iterations.saturating_sub(done) as f64 / rate;
                match Duration::try_from_secs_f64(left) {
                    Ok(left) => format!("{rate:.0} it/s, {} left", indicatif::HumanDuration(left)),
                    Err(_) => format!("{rate:.0} it/s"),
                }
            }
            _ => "warming up".into(),
        }
    }
}

fn bars(settings: &Settings) -> Vec<ProgressBar> {
    let all = MultiProgress::new();
    let style = ProgressStyle::with_template("{prefix} {bar:10} {pos}/{len} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    (1..=settings.ensembles)
        .map(|ensemble| {
            let bar = all.add(ProgressBar::new(settings.iterations as u64));
            bar.set_style(style.clone());
            bar.set_prefix(format!("ensemble {ensemble}"));
            bar
        })
        .collect()
}

fn describe(status: Status) -> String {
    let accept = match status.accept_rate {
        Some(rate) => format!(", accept {:.1} %", 100.0 * rate),
        None => String::new(),
    };
    format!("log joint {:.1}, {:.1} blocks{accept}", status.log_joint, status.blocks)
}

impl Progress {
    /// Shows where the run is.
    pub(crate) fn show(&mut self, view: &dyn View) {
        let done = view.t().saturating_sub(self.warmup);
        if view.t() >= self.warmup && self.sampling_since.is_none() {
            self.sampling_since = Some(Instant::now());
        }
        let last = done == self.iterations;
        match &self.show {
            Show::Nothing => {}
            Show::Bars(bars) => {
                if last || self.shown.elapsed() >= REDRAW {
                    self.shown = Instant::now();
                    for (ensemble, bar) in bars.iter().enumerate() {
                        let status = describe(view.status(ensemble));
                        bar.set_position(done as u64);
                        bar.set_message(format!("{}, {status}", self.pace(done)));
                    }
                }
            }
            Show::Lines => {
                if last || self.shown.elapsed() >= LINE {
                    self.shown = Instant::now();
                    say(&format!("iteration {done}/{}, {}", self.iterations, self.pace(done)));
                    for ensemble in 0..self.ensembles {
                        let status = describe(view.status(ensemble));
                        say(&format!("  ensemble {}: {status}", ensemble + 1));
                    }
                }
            }
        }
    }
}
