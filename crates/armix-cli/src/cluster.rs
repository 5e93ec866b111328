//! A run by several processes: which of them this is, who prepares, who follows, and how all end.
//!
//! Rank 0 does what a single process does. The others wait to be told the data and the settings, load
//! the data, and move their chains. Without the feature `mpi` there is only rank 0.

#[cfg(feature = "mpi")]
mod ranks;

use crate::data;
use crate::output::say;
use armix::ensemble::{Exchange, Local, Share};
use armix::error::{Error, Result};
use armix::run::Settings;
use armix::store::DataInfo;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code of a user's mistake.
const MISTAKE: u8 = 2;
/// The exit code of a panic, as Rust has it.
const PANIC: i32 = 101;

/// What launchers say about the place of a process.
const RANK: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];

fn variable(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// The place that a launcher gave this process; `None` if it was started without one.
pub(crate) fn launched_as() -> Option<usize> {
    let off = std::env::var("ARMIX_MPI").is_ok_and(|value| value == "off");
    if off { None } else { RANK.into_iter().find_map(variable) }
}

/// How many processes were launched, as far as that is known without asking MPI.
#[cfg(not(feature = "mpi"))]
fn launched() -> usize {
    let slurm = variable("PMIX_RANK").and_then(|_| variable("SLURM_STEP_NUM_TASKS"));
    let sizes = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].into_iter().find_map(variable);
    launched_as().and(sizes.or(slurm)).unwrap_or(1)
}

/// What the other ranks are told.
#[derive(Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) data: DataInfo,
    /// Where the data are now, if they were moved.
    pub(crate) elsewhere: Option<String>,
    pub(crate) settings: Settings,
}

enum Link {
    Alone(Local),
    #[cfg(feature = "mpi")]
    Ranks(Box<ranks::Ranks>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The others wait to be told.
    Preparing,
    /// All wait for each other now and then.
    Running,
    /// Nobody waits for anybody.
    Over,
}

/// The processes of a run.
pub(crate) struct Team {
    link: Link,
    stage: Stage,
}

/// Does a task on every rank. Whatever goes wrong on one of them, none is left waiting.
pub(crate) fn with_team(task: impl FnOnce(&mut Team) -> Result<ExitCode>) -> Result<ExitCode> {
    let mut team = Team::new()?;
    if team.ranks() == 1 {
        return task(&mut team);
    }
    let place = format!("rank {} of {}", team.rank(), team.ranks());
    match (catch_unwind(AssertUnwindSafe(|| task(&mut team))), team.stage) {
        (Ok(Ok(code)), _) => Ok(code),
        (Ok(Err(error)), stage)
            if stage == Stage::Over || (stage, team.rank()) == (Stage::Preparing, 0) =>
        {
            // Said before MPI ends: a launcher may end this process right after that.
            say(&format!("armix: {error}"));
            if stage == Stage::Preparing {
                team.exchange().broadcast(Vec::new());
            }
            Ok(ExitCode::from(MISTAKE))
        }
        (Ok(Err(error)), _) => {
            say(&format!("armix: {place}: {error}"));
            team.abort(MISTAKE.into())
        }
        (Err(_), _) => {
            say(&format!("armix: {place} failed; this ends the run on all ranks"));
            team.abort(PANIC)
        }
    }
}

impl Team {
    fn new() -> Result<Self> {
        #[cfg(feature = "mpi")]
        let link = match launched_as() {
            Some(_) => Link::Ranks(Box::new(ranks::Ranks::start()?)),
            None => Link::Alone(Local),
        };
        #[cfg(not(feature = "mpi"))]
        let link = match launched() {
            1 => Link::Alone(Local),
            ranks => {
                return Err(Error::new(format!(
                    "this armix was built without MPI, and {ranks} of it would do the same run {ranks} times; \
                     build it with --features mpi, start it without mpirun, or set ARMIX_MPI=off"
                )));
            }
        };
        Ok(Team { link, stage: Stage::Preparing })
    }

    pub(crate) fn exchange(&mut self) -> &mut dyn Exchange {
        match &mut self.link {
            Link::Alone(local) => local,
            #[cfg(feature = "mpi")]
            Link::Ranks(ranks) => &mut **ranks,
        }
    }

    pub(crate) fn rank(&mut self) -> usize {
        self.exchange().rank()
    }

    pub(crate) fn ranks(&mut self) -> usize {
        self.exchange().ranks()
    }

    fn abort(&self, code: i32) -> ! {
        match &self.link {
            Link::Alone(_) => std::process::exit(code),
            #[cfg(feature = "mpi")]
            Link::Ranks(ranks) => ranks.abort(code),
        }
    }

    /// Threads for each rank, unless the user says something else; 0 for one per core.
    pub(crate) fn threads(&self) -> usize {
        match &self.link {
            Link::Alone(_) => 0,
            #[cfg(feature = "mpi")]
            Link::Ranks(ranks) => ranks.threads(),
        }
    }

    /// A launcher ends its processes by a signal of its own: rank 0 takes it for Ctrl-C, the others leave
    /// the decision to rank 0.
    pub(crate) fn listen(&self, stop: &Arc<AtomicBool>) -> Result<()> {
        match &self.link {
            Link::Alone(_) => {
                let _ = stop; // Ctrl-C is all that a single process listens for
                Ok(())
            }
            #[cfg(feature = "mpi")]
            Link::Ranks(_) => ranks::listen(stop),
        }
    }

    /// What there is to say about the ranks before a run.
    pub(crate) fn describe(&mut self, settings: &Settings) -> Vec<String> {
        let (ranks, share) = (self.ranks(), Share::new(settings, self.ranks()));
        let mut lines = vec![format!("{ranks} ranks, each with {} chains at most", share.most())];
        let idle = ranks - share.busy();
        if idle > 0 {
            let (are, more) = match settings.ladder.is_none() {
                true => (format!("{} chains", settings.ensembles * settings.chains), "--chains"),
                false => (
                    format!("{} ensembles, whose ladders are not divided", settings.ensembles),
                    "--ensembles",
                ),
            };
            lines.push(format!(
                "{idle} of them have nothing to do: there are only {are}; start fewer ranks, or more {more}"
            ));
        }
        lines
    }

    /// How long the exchange took.
    pub(crate) fn report(&self) -> Option<String> {
        match &self.link {
            Link::Alone(_) => None,
            #[cfg(feature = "mpi")]
            Link::Ranks(ranks) => (ranks.ranks() > 1).then(|| ranks.report()),
        }
    }

    /// Rank 0 tells the others what to do, and hears whether they can.
    pub(crate) fn begin(&mut self, job: impl FnOnce() -> Job) -> Result<()> {
        let ranks = self.ranks();
        if ranks == 1 {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&job());
        let bytes = bytes.map_err(|e| Error::new(format!("cannot tell the other ranks: {e}")))?;
        let exchange = self.exchange();
        exchange.broadcast(bytes);
        let said = exchange.gather(Vec::new());
        let failed = said.iter().position(|message| !message.is_empty());
        exchange.broadcast(vec![u8::from(failed.is_none())]);
        self.stage = if failed.is_some() { Stage::Over } else { Stage::Running };
        match failed {
            None => Ok(()),
            Some(rank) => {
                let message = String::from_utf8_lossy(&said[rank]);
                Err(Error::new(format!("rank {rank} of {ranks}: {message}")))
            }
        }
    }

    /// The others do what they are told.
    pub(crate) fn follow(&mut self, threads: Option<usize>) -> Result<ExitCode> {
        self.listen(&Arc::default())?;
        // Rank 0 decides what Ctrl-C means.
        ctrlc::set_handler(|| {})
            .map_err(|error| Error::new(format!("cannot listen for Ctrl-C: {error}")))?;
        let threads = threads.unwrap_or(self.threads());
        let exchange = self.exchange();
        let told = exchange.broadcast(Vec::new());
        if told.is_empty() {
            self.stage = Stage::Over;
            return Ok(ExitCode::SUCCESS); // rank 0 says what is wrong, and so does its exit code
        }
        let job = serde_json::from_slice(&told).map_err(|e| Error::new(e.to_string()));
        let loaded = job.and_then(|job: Job| {
            let (choice, dataset) = data::reload(&job.data, job.elsewhere.as_deref())?;
            Ok((job.settings, choice, dataset))
        });
        let message = loaded.as_ref().err().map_or(String::new(), Error::to_string);
        exchange.gather(message.into_bytes());
        let go = exchange.broadcast(Vec::new()) == [1];
        self.stage = if go { Stage::Running } else { Stage::Over };
        match loaded {
            Ok((settings, choice, dataset)) if go => {
                let settings = Settings { threads, ..settings };
                let target = data::target(&dataset, &choice)?;
                target.run(&settings, None, &mut (), self.exchange())?;
                self.over();
                Ok(ExitCode::SUCCESS)
            }
            _ => Ok(ExitCode::SUCCESS),
        }
    }

    /// The run is over, and so is all waiting.
    pub(crate) fn over(&mut self) {
        self.stage = Stage::Over;
    }
}
