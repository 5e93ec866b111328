//! The exchange between processes that MPI has started.

use ::mpi::Threading;
use ::mpi::datatype::PartitionMut;
use ::mpi::environment::{Universe, processor_name};
use ::mpi::topology::{Color, SimpleCommunicator};
use ::mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};
use armix::ensemble::{self, Exchange};
use armix::error::{Error, Result};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// MPI counts with 31 bits: what is longer goes in pieces of so many bytes.
const PIECE: usize = 1 << 30;

/// All processes, and this one's part of them. Only the main thread talks.
pub(super) struct Ranks {
    /// Those that have chains; all, until there are groups.
    busy: SimpleCommunicator,
    /// Those that need the same states.
    group: SimpleCommunicator,
    /// The first of each group; of these rank 0 hears what it has not heard in its own group.
    firsts: Option<SimpleCommunicator>,
    threads: usize,
    spent: RefCell<Spent>,
    began: Instant,
    exchanges: Cell<u64>,
    world: SimpleCommunicator,
    /// Ends MPI when it is dropped, last of all.
    _universe: Universe,
}

/// Where the time of this rank went.
#[derive(Default)]
struct Spent {
    /// Until the slowest one has come.
    waiting: Duration,
    /// While bytes were on their way.
    moving: Duration,
    bytes: u64,
}

impl Ranks {
    pub(super) fn start() -> Result<Self> {
        let started = ::mpi::initialize_with_threading(Threading::Funneled);
        let (universe, provided) =
            started.ok_or_else(|| Error::new("MPI has been started already"))?;
        if provided < Threading::Funneled {
            return Err(Error::new("this MPI does not allow for threads; use another one"));
        }
        let world = universe.world();
        let (busy, group) = (world.duplicate(), world.duplicate());
        Ok(Ranks {
            threads: threads(&world),
            busy,
            group,
            firsts: None,
            spent: RefCell::default(),
            began: Instant::now(),
            exchanges: Cell::new(0),
            world,
            _universe: universe,
        })
    }

    pub(super) fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    pub(super) fn report(&self) -> String {
        let (spent, all) = (self.spent.borrow(), self.began.elapsed().as_secs_f64());
        let percent = |part: Duration| 100.0 * part.as_secs_f64() / all.max(1e-9);
        format!(
            "rank 0 spent {:.1} % of its time exchanging states ({} times {:.1} kB) and {:.1} % waiting for other ranks",
            percent(spent.moving),
            self.exchanges.get(),
            spent.bytes as f64 / 1000.0 / self.exchanges.get().max(1) as f64,
            percent(spent.waiting),
        )
    }

    /// The lengths of all messages; who is here has to wait for the others.
    fn lengths(&self, communicator: &SimpleCommunicator, own: usize) -> Vec<usize> {
        let began = Instant::now();
        let mut lengths = vec![0u64; communicator.size() as usize];
        communicator.all_gather_into(&(own as u64), &mut lengths[..]);
        self.spent.borrow_mut().waiting += began.elapsed();
        lengths.into_iter().map(|length| length as usize).collect()
    }

    /// Everybody's bytes to rank 0 of a communicator, one after the other.
    fn bring(&self, communicator: &SimpleCommunicator, own: Vec<u8>) -> Vec<Vec<u8>> {
        let lengths = self.lengths(communicator, own.len());
        let began = Instant::now();
        let mut all = Vec::new();
        if communicator.rank() == 0 {
            let others: Vec<Vec<u8>> = (1..lengths.len())
                .map(|rank| {
                    let mut bytes = vec![0; lengths[rank]];
                    let process = communicator.process_at_rank(rank as i32);
                    bytes.chunks_mut(PIECE).for_each(|piece| {
                        process.receive_into(piece);
                    });
                    bytes
                })
                .collect();
            all.push(own);
            all.extend(others);
            let bytes: usize = lengths[1..].iter().sum();
            self.spent.borrow_mut().bytes += bytes as u64;
        } else {
            let process = communicator.process_at_rank(0);
            own.chunks(PIECE).for_each(|piece| process.send(piece));
        }
        self.spent.borrow_mut().moving += began.elapsed();
        all
    }

    /// Everybody's bytes to everybody in the group.
    fn spread(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        if self.group.size() == 1 {
            return vec![own];
        }
        let lengths = self.lengths(&self.group, own.len());
        let began = Instant::now();
        let each = PIECE / lengths.len();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut all: Vec<Vec<u8>> = lengths.iter().map(|&l| Vec::with_capacity(l)).collect();
        for from in (0..longest).step_by(each) {
            let piece = |length: usize| from.min(length)..(from + each).min(length);
            let counts: Vec<i32> = lengths.iter().map(|&l| piece(l).len() as i32).collect();
            let begins = counts.iter().scan(0, |sum, count| {
                *sum += count;
                Some(*sum - count)
            });
            let begins: Vec<i32> = begins.collect();
            let mut buffer = vec![0u8; counts.iter().map(|&c| c as usize).sum()];
            let mut parts = PartitionMut::new(&mut buffer[..], &counts[..], &begins[..]);
            self.group.all_gather_varcount_into(&own[piece(own.len())], &mut parts);
            for ((bytes, &begin), &count) in all.iter_mut().zip(&begins).zip(&counts) {
                bytes.extend_from_slice(&buffer[begin as usize..][..count as usize]);
            }
        }
        let mut spent = self.spent.borrow_mut();
        spent.moving += began.elapsed();
        spent.bytes += (lengths.iter().sum::<usize>() - own.len()) as u64;
        all
    }
}

impl Exchange for Ranks {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn ranks(&self) -> usize {
        self.world.size() as usize
    }

    fn group(&mut self, group: Option<usize>) {
        let colour = |group: Option<usize>| {
            group.map_or_else(Color::undefined, |g| Color::with_value(g as i32))
        };
        let alone =
            |ranks: &Ranks| ranks.world.split_by_color(Color::with_value(ranks.world.rank()));
        let busy = self.world.split_by_color(colour(group.map(|_| 0)));
        let own = self.world.split_by_color(colour(group));
        let first = group.filter(|&g| g == self.rank()).map(|_| 0);
        self.firsts = self.world.split_by_color(colour(first));
        let nobody = alone(self).expect("a rank is in a communicator of its own");
        self.group = own.unwrap_or(nobody.duplicate());
        self.busy = busy.unwrap_or(nobody);
        self.began = Instant::now();
    }

    fn share(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        self.exchanges.set(self.exchanges.get() + 1);
        fail_if_asked(self.rank(), self.exchanges.get());
        let mut all = self.spread(own);
        let Some(firsts) = self.firsts.as_ref().filter(|firsts| firsts.size() > 1) else {
            return all;
        };
        // Messages of a group travel as one, and are parted where they arrive.
        let mut lengths = vec![all.len() as u64];
        lengths.extend(all.iter().map(|bytes| bytes.len() as u64));
        let mut bundle: Vec<u8> = Vec::new();
        if firsts.rank() > 0 {
            bundle.extend(lengths.iter().flat_map(|l| l.to_le_bytes()));
            all.iter().for_each(|bytes| bundle.extend_from_slice(bytes));
        }
        for bundle in self.bring(firsts, bundle).into_iter().skip(1) {
            let (words, _) = bundle.as_chunks();
            let word = |at: usize| u64::from_le_bytes(words[at]) as usize;
            let mut begin = 8 * (1 + word(0));
            for at in 1..=word(0) {
                all.push(bundle[begin..begin + word(at)].to_vec());
                begin += word(at);
            }
        }
        all
    }

    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>> {
        self.bring(&self.busy, own)
    }

    fn broadcast(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let began = Instant::now();
        let root = self.busy.process_at_rank(0);
        let mut length = bytes.len() as u64;
        root.broadcast_into(&mut length);
        bytes.resize(length as usize, 0);
        bytes.chunks_mut(PIECE).for_each(|piece| root.broadcast_into(piece));
        self.spent.borrow_mut().waiting += began.elapsed();
        bytes
    }
}

/// The cores that this process may use, shared out among those that may use the same ones.
fn threads(world: &SimpleCommunicator) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed_list"));
    let host = processor_name().unwrap_or_default();
    let place = format!("{host} {}", allowed.unwrap_or_default());
    // FNV-1a: places that differ must give different numbers, on all ranks alike.
    let place = place.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut places = vec![0u64; world.size() as usize];
    world.all_gather_into(&place, &mut places[..]);
    let same = places.iter().filter(|&&other| other == place).count();
    (ensemble::cores() / same).max(1)
}

/// `mpirun` and Slurm end jobs with SIGTERM.
pub(super) fn listen(stop: &Arc<AtomicBool>) -> Result<()> {
    let registered = signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(stop));
    registered
        .map(|_| ())
        .map_err(|error| Error::new(format!("cannot listen for signals: {error}")))
}

/// Tests want to know what becomes of a rank that panics: ARMIX_TEST_PANIC=RANK:EXCHANGE.
fn fail_if_asked(rank: usize, exchange: u64) {
    if cfg!(debug_assertions) {
        let asked =
            std::env::var("ARMIX_TEST_PANIC").is_ok_and(|v| v == format!("{rank}:{exchange}"));
        assert!(!asked, "this was asked for");
    }
}
