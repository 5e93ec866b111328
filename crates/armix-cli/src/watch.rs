//! Watches a run: shows progress, saves, and stops it for Ctrl-C or when its time is up.

use crate::output::say;
use crate::progress::Progress;
use crate::source::Source;
use armix::diagnose::{self, Diagnosis, Verdict};
use armix::ensemble::{Observer, View};
use armix::error::{Error, Result};
use armix::run::Settings;
use armix::store::Recorder;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) struct Watch {
    progress: Progress,
    recorder: Option<Recorder>,
    checkpoint_every: Duration,
    saved: Instant,
    began: Instant,
    max_time: Option<Duration>,
    timed_out: bool,
    /// The state after which the run ends, or after which it is asked whether it has converged.
    last: usize,
    /// If the run goes on until it has converged: where it may end, and whether it has.
    until: Option<Until>,
    stop: Arc<AtomicBool>,
}

/// Ends a run when it has converged, which is asked each time it is twice as long as the last time.
pub(crate) struct Until {
    settings: Settings,
    quiet: bool,
    converged: bool,
}

impl Until {
    pub(crate) fn new(settings: &Settings, quiet: bool) -> Self {
        Until { settings: settings.clone(), quiet, converged: false }
    }
}

impl Watch {
    pub(crate) fn new(
        settings: &Settings,
        recorder: Option<Recorder>,
        max_time: Option<Duration>,
        checkpoint_every: Duration,
        until: Option<Until>,
        quiet: bool,
    ) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            say("\narmix: stopping after this iteration; press Ctrl-C again to stop at once, without a summary");
        })
        .map_err(|error| Error::new(format!("cannot listen for Ctrl-C: {error}")))?;
        Ok(Watch {
            progress: Progress::new(settings, quiet),
            recorder,
            checkpoint_every,
            saved: Instant::now(),
            began: Instant::now(),
            max_time,
            timed_out: false,
            last: settings.warmup + settings.iterations,
            until,
            stop,
        })
    }

    /// Set to stop the run.
    pub(crate) fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// The folder of the run, if it is saved.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.recorder.as_ref().map(|recorder| recorder.folder().path())
    }

    /// Ends the display, and says where the run is and how to go on.
    pub(crate) fn finish(&mut self, quiet: bool) {
        self.progress.finish();
        if let (Some(recorder), false) = (&self.recorder, quiet) {
            let folder = recorder.folder().path().display();
            let unfinished = self.timed_out || self.stop.load(Ordering::Relaxed);
            say(&match unfinished {
                true => format!("saved in {folder}; continue with: armix resume {folder}"),
                false => format!("saved in {folder}"),
            });
        }
    }

    /// Whether the run has converged, if it was to go on until then.
    pub(crate) fn converged(&self) -> bool {
        self.until.as_ref().is_some_and(|until| until.converged)
    }

    /// Asks a run that is as long as planned, and saved, whether it has converged; if not, it is to become twice as
    /// long.
    fn ask(&mut self, t: usize) -> Result<()> {
        let (Some(until), Some(recorder)) = (&mut self.until, &mut self.recorder) else {
            return Ok(());
        };
        let run = Source::folder(recorder.folder().path())?.run;
        let diagnosis = Diagnosis::new(&run, &diagnose::Options::default());
        let done = t - until.settings.warmup;
        until.converged = diagnosis.verdict == Verdict::Converged;
        if until.converged {
            return recorder.set_iterations(done);
        }
        let next = done.saturating_mul(2);
        if !until.quiet {
            let why = diagnosis.reasons.first().map_or(String::new(), |why| format!(" ({why})"));
            self.progress.suspend(|| {
                say(&format!("not converged after {done} iterations{why}: going on to {next}"));
            });
        }
        self.progress.set_iterations(next);
        self.last = until.settings.warmup + next;
        recorder.set_iterations(next)
    }

    /// Whether the run was stopped because its time was up.
    pub(crate) fn timed_out(&self) -> bool {
        self.timed_out
    }
}

impl Observer for Watch {
    fn begin(&mut self, view: &dyn View) -> Result<()> {
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.begin(view))
    }

    fn after_round(&mut self, view: &dyn View) -> Result<ControlFlow<()>> {
        self.progress.show(view);
        // Between two exchanges other processes are elsewhere: this waits until they are here.
        let settled = view.settled();
        let asked = settled && self.stop.load(Ordering::Relaxed);
        self.timed_out =
            settled && !asked && self.max_time.is_some_and(|time| self.began.elapsed() >= time);
        // What ends a run must not depend on the number of processes.
        let until = self.until.as_ref();
        let last = view.t() >= self.last
            && until.is_none_or(|until| settled && until.settings.exchanges_at(view.t()));
        self.timed_out &= !last;
        if let Some(recorder) = &mut self.recorder {
            let _ = recorder.after_round(view)?;
            if asked || self.timed_out || last {
                recorder.finish(view)?;
            } else if settled && self.saved.elapsed() >= self.checkpoint_every {
                recorder.checkpoint(view)?;
                self.saved = Instant::now();
            }
        }
        if last && !asked {
            self.ask(view.t())?;
        }
        let stop = asked || self.timed_out || self.converged();
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
