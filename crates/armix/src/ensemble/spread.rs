//! A run that is spread over several processes: every rank moves its own chains, and rank 0 leads.
//!
//! A stretch of rounds ends where states are exchanged. Rank 0 then shows its observer one round
//! after the other, as if all chains were its own, and says what comes next: go on, send what a
//! checkpoint needs, or stop. Nobody else decides anything, so that nobody waits in vain.

use super::exchange::{Exchange, Share};
use super::news::{News, decode, encode, pack, unpack};
use super::{Crew, Observer, Record, Sampler, Status, View, concluded, status};
use crate::checkpoint::{Beside, Checkpoint, EnsembleCheckpoint, Learnt, Resume};
use crate::error::{Error, Result};
use crate::history::Row;
use crate::ladder::Rungs;
use crate::model::Model;
use crate::run::{Run, Settings, Trace};
use crate::state::Target;
use serde::{Deserialize, Serialize};

/// What rank 0 says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Go = 0,
    Checkpoint = 1,
    Stop = 2,
}

/// What it takes to continue, for everybody.
#[derive(Serialize, Deserialize)]
struct Handover {
    checkpoint: Checkpoint,
    /// By ensemble: what goes beside its chains, its ladder, and what it has learnt.
    beside: Vec<(Vec<Beside>, Option<Rungs>, Learnt)>,
    /// By ensemble: the rows after the iterations that are kept, in order.
    rows: Vec<Vec<(usize, Vec<Row>)>>,
}

pub(super) fn run<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    from: Option<Resume<'_>>,
    observer: &mut dyn Observer,
    exchange: &mut dyn Exchange,
) -> Result<Run> {
    let (rank, share) = (exchange.rank(), Share::new(settings, exchange.ranks()));
    exchange.group(share.group(rank));
    if share.group(rank).is_none() {
        let nothing = vec![vec![Trace::default(); settings.chains]; settings.ensembles];
        return Ok(concluded(target, settings, (0, 0), 0.0, nothing));
    }
    match rank {
        0 => lead(target, settings, from, observer, exchange, &share),
        _ => follow(target, settings, exchange, &share),
    }
}

/// Rank 0. Its run is that of all ranks.
fn lead<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    from: Option<Resume<'_>>,
    observer: &mut dyn Observer,
    exchange: &dyn Exchange,
    share: &Share,
) -> Result<Run> {
    exchange.broadcast(pack(&from.as_ref().map(Handover::new).transpose()?)?);
    let begins = from.is_none();
    let traces = match &from {
        Some(from) => from.traces.clone(),
        None => vec![vec![Trace::default(); settings.chains]; settings.ensembles],
    };
    let mut member = Member::new(target, settings, from, exchange, share)?;
    let mut board = Board { t: member.sampler.t, settled: true, news: Vec::new(), traces };
    let since = member.sampler.t.max(settings.warmup);
    if begins {
        let news = member.exchange()?;
        board.hear(settings, news, true);
        told(exchange, observer.begin(&Desk { board: &board, member: &member }))?;
    }
    let mut stop = false;
    while !stop && member.sampler.t < settings.warmup + settings.iterations {
        order(exchange, Order::Go);
        member.rounds();
        let mut news = member.exchange()?.into_iter().peekable();
        while let Some(t) = news.peek().map(|n| n.facts.t) {
            let round = std::iter::from_fn(|| news.next_if(|n| n.facts.t == t)).collect();
            board.hear(settings, round, t == member.sampler.t);
            let next = observer.after_round(&Desk { board: &board, member: &member });
            stop |= told(exchange, next)?.is_break();
        }
    }
    let last = Desk { board: &board, member: &member }.checkpoint();
    order(exchange, Order::Stop);
    let (to, seconds) = (last.t, last.seconds);
    let (ladders, hot) = last.ladders_and_hot(settings);
    let mixes = last.mixes();
    let saved = last.ensembles.into_iter().flat_map(|e| e.chains.into_iter().take(settings.chains));
    for (trace, saved) in board.traces.iter_mut().flatten().zip(saved) {
        (trace.counters, trace.best) = (saved.counters, saved.best);
    }
    Ok(Run {
        ladders,
        hot,
        mixes,
        ..concluded(target, settings, (since, to), seconds, board.traces)
    })
}

/// Every other rank. Its run is of its own chains alone.
fn follow<M: Model>(
    target: &Target<M>,
    settings: &Settings,
    exchange: &dyn Exchange,
    share: &Share,
) -> Result<Run> {
    let handover: Option<Handover> = unpack(&exchange.broadcast(Vec::new()))?;
    let begins = handover.is_none();
    let mut member = match handover {
        None => Member::new(target, settings, None, exchange, share)?,
        Some(Handover { mut checkpoint, beside, rows }) => {
            for (ensemble, (beside, rungs, learnt)) in checkpoint.ensembles.iter_mut().zip(beside) {
                ensemble.put_beside(&mut beside.into_iter());
                (ensemble.rungs, ensemble.learnt) = (rungs, learnt);
            }
            let traces = vec![vec![Trace::default(); settings.chains]; settings.ensembles];
            let rows = |ensemble: usize, iteration: usize| {
                let rows: &Vec<(usize, Vec<Row>)> = rows.get(ensemble)?;
                let at = rows.binary_search_by_key(&iteration, |r| r.0).ok()?;
                Some(rows[at].1.clone())
            };
            let from = Resume { checkpoint, traces, rows: &rows };
            Member::new(target, settings, Some(from), exchange, share)?
        }
    };
    let since = member.sampler.t.max(settings.warmup);
    if begins {
        member.exchange()?;
    }
    loop {
        match exchange.broadcast(Vec::new()).first() {
            Some(&byte) if byte == Order::Go as u8 => {
                member.rounds();
                member.exchange()?;
            }
            Some(&byte) if byte == Order::Checkpoint as u8 => {
                exchange.gather(pack(&member.parts())?);
            }
            _ => break,
        }
    }
    let mut traces = vec![vec![Trace::default(); settings.chains]; settings.ensembles];
    let (t, seconds) = (member.sampler.t, member.sampler.seconds());
    for ensemble in member.sampler.ensembles {
        let (index, first) = (ensemble.index, ensemble.first);
        for (at, trace) in ensemble.into_traces().into_iter().enumerate() {
            traces[index][first + at] = trace;
        }
    }
    Ok(concluded(target, settings, (since, t), seconds, traces))
}

fn order(exchange: &dyn Exchange, order: Order) {
    exchange.broadcast(vec![order as u8]);
}

/// What the observer said; if it failed, the others stop, too.
fn told<T>(exchange: &dyn Exchange, said: Result<T>) -> Result<T> {
    said.inspect_err(|_| order(exchange, Order::Stop))
}

impl Handover {
    fn new(from: &Resume<'_>) -> Result<Self> {
        let rows_of = |(index, ensemble): (usize, &EnsembleCheckpoint)| {
            let row = |&iteration: &usize| {
                let rows = (from.rows)(index, iteration);
                rows.map(|rows| (iteration, rows)).ok_or_else(|| super::missing(iteration))
            };
            ensemble.kept.iter().map(row).collect::<Result<Vec<_>>>()
        };
        let rows = from.checkpoint.ensembles.iter().enumerate().map(rows_of);
        Ok(Handover {
            rows: rows.collect::<Result<_>>()?,
            beside: (from.checkpoint.ensembles.iter())
                .map(|e| (e.beside(), e.rungs.clone(), e.learnt.clone()))
                .collect(),
            checkpoint: from.checkpoint.clone(),
        })
    }
}

/// Chains of an ensemble in a checkpoint: which ensemble, what goes beside them, their ladder and what they have learnt, and the
/// rest.
type Part = (usize, Vec<Beside>, Option<Rungs>, Learnt, EnsembleCheckpoint);

/// The chains of this rank, and what they have to tell.
struct Member<'t, M: Model> {
    sampler: Sampler<'t, M>,
    exchange: &'t dyn Exchange,
    crew: Crew,
    outbox: Vec<News>,
}

impl<'t, M: Model> Member<'t, M> {
    fn new(
        target: &'t Target<M>,
        settings: &'t Settings,
        from: Option<Resume<'_>>,
        exchange: &'t dyn Exchange,
        share: &Share,
    ) -> Result<Self> {
        let own = share.of(exchange.rank());
        let crew = Crew::new(settings, own.iter().map(|(_, chains)| chains.len()).sum())?;
        let begins = from.is_none();
        let sampler = match from {
            None => Sampler::new(target, settings, &own)?,
            Some(from) => Sampler::resume(target, settings, &own, from)?,
        };
        let mut member = Member { sampler, exchange, crew, outbox: Vec::new() };
        if begins {
            member.note();
        }
        Ok(member)
    }

    /// What this rank has of a checkpoint.
    fn parts(&self) -> Vec<Part> {
        let ensembles = self.sampler.ensembles.iter();
        ensembles
            .map(|e| {
                let part = e.checkpoint();
                (e.index, part.beside(), part.rungs.clone(), part.learnt.clone(), part)
            })
            .collect()
    }

    /// Rounds up to the next exchange.
    fn rounds(&mut self) {
        let settings = self.sampler.settings;
        loop {
            self.sampler.round(&self.crew);
            self.note();
            let t = self.sampler.t;
            if settings.exchanges_at(t) || t == settings.warmup + settings.iterations {
                return;
            }
        }
    }

    /// Takes down where the chains are.
    fn note(&mut self) {
        let Sampler { t, ensembles, .. } = &self.sampler;
        for e in ensembles {
            for (at, runner) in e.chains.iter().enumerate() {
                let place = (e.index, e.first + at);
                self.outbox.push(News::new(*t, place, &super::record(runner), &runner.proposals));
            }
        }
    }

    /// Tells and hears; what the past needs goes there. In order of rounds, ensembles and chains.
    fn exchange(&mut self) -> Result<Vec<News>> {
        let n = self.sampler.n;
        let own = encode(&std::mem::take(&mut self.outbox))?;
        let mut news = Vec::new();
        for bytes in self.exchange.share(own) {
            news.extend(decode(&bytes, n)?);
        }
        news.sort_by_key(|n| (n.facts.t, n.facts.ensemble, n.facts.chain));
        let Sampler { settings, t, ensembles, .. } = &mut self.sampler;
        for e in ensembles {
            let of_ensemble = news.iter().filter(|n| n.facts.ensemble == e.index);
            let of_ensemble: Vec<&News> = of_ensemble.collect();
            for round in of_ensemble.chunk_by(|a, b| a.facts.t == b.facts.t) {
                if round.len() != settings.members() {
                    return Err(Error::new("states of some chains did not arrive"));
                }
                let of_round = round.iter().map(|n| n.record());
                e.remember(settings, round[0].facts.t, of_round);
            }
            e.settle(settings, *t);
        }
        Ok(news)
    }
}

/// What rank 0 knows of all chains.
struct Board {
    t: usize,
    /// Whether all ranks are where the board is.
    settled: bool,
    /// The last round that is shown, in order of ensembles and chains.
    news: Vec<News>,
    traces: Vec<Vec<Trace>>,
}

impl Board {
    fn hear(&mut self, settings: &Settings, news: Vec<News>, settled: bool) {
        (self.t, self.settled) = (news.first().map_or(self.t, |n| n.facts.t), settled);
        if let Some(iteration) = self.t.checked_sub(settings.warmup + 1) {
            let cold = news.iter().filter(|n| n.facts.chain < settings.chains);
            for (trace, News { facts, row }) in self.traces.iter_mut().flatten().zip(cold) {
                trace.log_joint.push(facts.log_joint);
                trace.push_hypers(&facts.hypers);
                trace.blocks.push(facts.blocks as u32);
                trace.largest.push(facts.largest);
                if settings.keep_draws.is_some_and(|thin| iteration.is_multiple_of(thin)) {
                    trace.draws.push(row.clone());
                }
            }
        }
        self.news = news;
    }
}

/// The board, with a line to everybody.
struct Desk<'a, 't, M: Model> {
    board: &'a Board,
    member: &'a Member<'t, M>,
}

impl<M: Model> View for Desk<'_, '_, M> {
    fn t(&self) -> usize {
        self.board.t
    }

    fn hypers(&self) -> &[String] {
        &self.member.sampler.hypers
    }

    fn settled(&self) -> bool {
        self.board.settled
    }

    fn status(&self, ensemble: usize) -> Status {
        let settings = self.member.sampler.settings;
        let of = &self.board.news[ensemble * settings.members()..][..settings.chains];
        let facts = of.iter().map(|n| &n.facts);
        status(facts.map(|f| (f.log_joint, f.blocks, &f.proposals)))
    }

    fn record(&self, ensemble: usize, chain: usize) -> Record<'_> {
        self.board.news[ensemble * self.member.sampler.settings.members() + chain].record()
    }

    /// # Panics
    /// When the view is not settled.
    fn checkpoint(&self) -> Checkpoint {
        assert!(self.board.settled, "between two exchanges there is nothing to save");
        let Member { sampler, exchange, .. } = self.member;
        order(*exchange, Order::Checkpoint);
        let own = pack(&self.member.parts()).unwrap_or_default();
        let (kept, chains) = (Vec::new(), Vec::new());
        let learnt = Learnt::default();
        let none = EnsembleCheckpoint { stride: 1, kept, chains, rungs: None, learnt };
        let mut ensembles = vec![none; sampler.settings.ensembles];
        for bytes in exchange.gather(own) {
            let parts: Vec<Part> = unpack(&bytes).expect("what was packed can be unpacked");
            for (index, beside, rungs, learnt, mut part) in parts {
                part.put_beside(&mut beside.into_iter());
                (ensembles[index].rungs, ensembles[index].learnt) = (rungs, learnt);
                // Ranks have chains in order, and the same past of an ensemble.
                (ensembles[index].stride, ensembles[index].kept) = (part.stride, part.kept);
                ensembles[index].chains.extend(part.chains);
            }
        }
        Checkpoint { t: sampler.t, seconds: sampler.seconds(), ensembles }
    }
}
