//! Watches a run: shows progress, saves, and stops it for Ctrl-C or when its time is up.

use crate::output::say;
use crate::progress::Progress;
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
    last: usize,
    stop: Arc<AtomicBool>,
}

impl Watch {
    pub(crate) fn new(
        settings: &Settings,
        recorder: Option<Recorder>,
        max_time: Option<Duration>,
        checkpoint_every: Duration,
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
        let last = view.t() == self.last;
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
        let stop = asked || self.timed_out;
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
