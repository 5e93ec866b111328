//! Runs over several processes, with a real MPI: `cargo test -p armix-cli --features mpi --test mpi`.
//!
//! Every run here must end with the bytes of a single process, which is told apart from the others by
//! having no mpirun. They take turns, because each keeps more than one core busy.

mod common;

use common::Folder;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use wait_timeout::ChildExt;

/// No run here takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A command in a folder, with what Open MPI needs on a machine of few cores and for root.
fn command(folder: &Folder, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder.path()).stdin(Stdio::null());
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ("OMPI_MCA_btl", "self,vader,tcp"),
        // Otherwise mpirun itself may wait for ever after a rank was killed (docs/CLUSTER.md).
        ("PMIX_MCA_gds", "hash"),
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ] {
        command.env(name, value);
    }
    command
}

const ARMIX: &str = env!("CARGO_BIN_EXE_armix");

/// armix with a line of arguments, by so many ranks; 0 for no MPI at all.
fn ranks(folder: &Folder, ranks: usize, line: &str) -> Command {
    let mut command = match ranks {
        0 => command(folder, ARMIX),
        _ => {
            let mut command = command(folder, "mpirun");
            command.args(["-n", &ranks.to_string(), ARMIX]);
            command
        }
    };
    command.args(line.split_whitespace());
    command
}

/// Runs to the end; a hang is a failure.
fn finish(mut command: Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    if child.wait_timeout(PATIENCE).expect("a child").is_none() {
        let _ = child.kill();
        panic!("{command:?} hangs: {:?}", child.wait_with_output());
    }
    child.wait_with_output().expect("an output")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn succeed(command: Command) -> Output {
    let output = finish(command);
    assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
    output
}

/// The files of a run that are results.
fn results(folder: &Folder, run: &str) -> BTreeMap<String, Vec<u8>> {
    let run = folder.path().join(run);
    let mut files = vec![run.join("run.json"), run.join("trace.csv")];
    files.extend(fs::read_dir(run.join("draws")).expect("draws").map(|e| e.expect("one").path()));
    let read = |path: &Path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read(path).expect("a file"))
    };
    files.iter().map(|path| read(path)).collect()
}

const SMALL: &str = "fit karate --ensembles 2 --chains 3 --warmup 8 --iterations 60 --no-report";

#[test]
fn any_number_of_ranks_gives_the_same_bytes() {
    let _turn = turn();
    let folder = Folder::new();
    for every in [1, 7] {
        let what = format!("{SMALL} --exchange-every {every}");
        let alone = format!("alone{every}");
        succeed(ranks(&folder, 0, &format!("{what} --quiet --out {alone}")));
        for n in [1, 2, 3, 4, 8] {
            let out = format!("ranks{n}-{every}");
            let threads = 1 + n % 2;
            let line = format!("{what} --threads {threads} --out {out}");
            let output = succeed(ranks(&folder, n, &line));
            assert!(results(&folder, &out) == results(&folder, &alone), "{n} ranks, every {every}");
            let said = stderr(&output);
            // Rank 0 alone talks.
            let summaries = String::from_utf8_lossy(&output.stdout);
            assert_eq!(summaries.matches("best partition").count(), 1, "{summaries}");
            assert_eq!(said.matches("a network of 34 vertices").count(), 1, "{said}");
            assert_eq!(said.contains("2 of them have nothing to do"), n == 8, "{said}");
            assert_eq!(said.contains("of its time exchanging states"), n > 1, "{said}");
        }
    }
    // Draws that are kept in memory arrive at rank 0, too; so does a table.
    let what = "fit southern-women --no-save --quiet --json --iterations 30 --chains 3";
    let summary = |n| {
        let output = succeed(ranks(&folder, n, what));
        let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for clock in ["seconds", "normalised_iterations", "peak_memory_bytes", "moves"] {
            json[clock] = serde_json::Value::Null;
        }
        json
    };
    assert_eq!(summary(0), summary(3));
}

/// A table of two groups, an outlier and some missing cells.
fn table(folder: &Folder) {
    let mut random = armix::rng::Rng::from_seed(armix::rng::Purpose::Test, 5);
    let mut text = "x,y,z\n".to_string();
    for row in 0..40 {
        let mut cell = |column: usize| match (row + column) % 13 {
            12 => String::new(),
            _ => format!("{:.3}", random.uniform() + if row < 20 { 0.0 } else { 2.5 }),
        };
        let cells: Vec<String> = (0..3).map(&mut cell).collect();
        text += &format!("{}\n", cells.join(","));
    }
    fs::write(folder.path().join("table.csv"), text + "30,-20,1\n").expect("a file");
}

/// What chains keep beside their partitions: hyper-parameters, parameters of blocks, drawn cells, ladders. Numbers
/// of many digits arrive as they were given. Rank 0 alone decides when a run is long enough.
#[test]
fn all_that_chains_keep_travels() {
    let _turn = turn();
    let folder = Folder::new();
    table(&folder);
    let models = [
        "karate --prior pitman-yor --discount 0.20566949530440126 --alpha 1.7622800824579419 --sample-hyper",
        "table.csv --model student-t --degrees-of-freedom 3.9391491627785107",
        "table.csv --model niw --sample-hyper",
        "karate --ladder 3:0.3 --sample-hyper",
        "karate --until-converged --exchange-every 7",
        "karate --moves auto:arm:likely,sm,gibbs",
    ];
    for (at, model) in models.into_iter().enumerate() {
        let what = format!(
            "fit {model} --ensembles 2 --chains 3 --warmup 5 --iterations 40 --no-report --quiet"
        );
        let alone = format!("alone{at}");
        succeed(ranks(&folder, 0, &format!("{what} --out {alone}")));
        for n in 1..=4 {
            let out = format!("ranks{n}-{at}");
            succeed(ranks(&folder, n, &format!("{what} --threads 1 --out {out}")));
            assert!(results(&folder, &out) == results(&folder, &alone), "{n} ranks, {model}");
        }
    }
}

/// The process of a rank, by what the launcher wrote into its environment. A file says which run it is.
fn process_of(rank: usize, out: &str) -> Option<u32> {
    let wanted = format!("OMPI_COMM_WORLD_RANK={rank}");
    let pids = fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|e| e.ok()?.file_name().to_string_lossy().parse::<u32>().ok());
    let mut found = pids.filter(|pid| {
        let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let has = |bytes: &[u8], text: &str| bytes.split(|&b| b == 0).any(|w| w == text.as_bytes());
        let line = read("cmdline");
        line.starts_with(ARMIX.as_bytes()) && has(&line, out) && has(&read("environ"), &wanted)
    });
    found.next()
}

fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    sent.expect("kill runs");
}

/// kill -9 of any rank at any moment ends the job; another number of ranks, or a single process, goes on,
/// and the run ends with the same bytes.
#[test]
fn a_run_survives_kill_9_of_any_rank() {
    survives("planted:4,25,0.4,0.05 --iterations 600", 9);
}

#[test]
fn sampled_hyper_parameters_survive_kill_9() {
    survives("planted:4,15,0.4,0.05 --iterations 400 --sample-hyper", 10);
}

#[test]
fn parameters_of_blocks_survive_kill_9() {
    survives("table.csv --model student-t --iterations 400", 11);
}

/// Waits for the end of a job, a rank of which may have been killed. All ranks must end. When none is left,
/// mpirun itself may still wait for ever (docs/CLUSTER.md); it is then ended here, which is said.
fn ended_well(job: &mut Child, ranks: usize, out: &str) -> bool {
    let (began, mut seen) = (Instant::now(), Instant::now());
    loop {
        if let Some(status) = job.try_wait().expect("a child") {
            return status.success();
        }
        if (0..ranks).any(|rank| process_of(rank, out).is_some()) {
            seen = Instant::now();
            assert!(began.elapsed() < PATIENCE, "a rank was killed, and others are still there");
        }
        if seen.elapsed() > Duration::from_secs(20) {
            eprintln!("NOTE: all ranks have ended, but mpirun has not; it is killed");
            job.kill().and_then(|()| job.wait()).expect("mpirun ends");
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn survives(what: &str, seed: u64) {
    let _turn = turn();
    let folder = Folder::new();
    table(&folder);
    let what = format!("fit {what} --chains 4 --ensembles 2 --warmup 10 --quiet");
    succeed(ranks(&folder, 0, &format!("{what} --out whole --no-report")));
    let mut random = armix::rng::Rng::from_seed(armix::rng::Purpose::Test, seed);
    // A name of its own, to tell processes apart.
    let out = folder.path().join("cut").display().to_string();
    let state = folder.path().join("cut/checkpoint/state");
    // Every other job is killed soon after its start, the others after they have saved something.
    let (mut killed, mut jobs) = (0, 0);
    while killed < 3 {
        jobs += 1;
        assert!(jobs < 20, "only {killed} of {jobs} jobs were killed in the middle");
        let n = 2 + random.below(3) as usize;
        let line = match folder.path().join("cut/run.json").exists() {
            true => format!("resume {out} --quiet --checkpoint-every 10ms --no-report"),
            false => format!("{what} --out {out} --checkpoint-every 10ms --no-report"),
        };
        let written = || fs::metadata(&state).and_then(|m| m.modified()).ok();
        let before = written();
        let mut job = ranks(&folder, n, &line);
        let mut job = job.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("mpirun");
        let rank = random.below(n as u64) as usize;
        let in_the_middle = jobs % 2 == 0;
        let began = Instant::now();
        let ready = || match in_the_middle {
            true => written() != before,
            false => process_of(rank, &out).is_some(),
        };
        while !ready() && began.elapsed() < PATIENCE && job.try_wait().is_ok_and(|s| s.is_none()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(random.below(if in_the_middle {
            200
        } else {
            600
        })));
        if let Some(pid) = process_of(rank, &out) {
            signal("KILL", pid);
        }
        if ended_well(&mut job, n, &out) {
            assert!(results(&folder, "cut") == results(&folder, "whole"), "{n} ranks");
            fs::remove_dir_all(folder.path().join("cut")).expect("removed");
        } else {
            killed += usize::from(in_the_middle);
        }
    }
    if folder.path().join("cut/run.json").exists() {
        for n in [3, 0] {
            let more = if n == 0 { "" } else { "--max-time 100ms" };
            succeed(ranks(&folder, n, &format!("resume cut --quiet --no-report {more}")));
        }
        assert!(results(&folder, "cut") == results(&folder, "whole"));
    }
}

/// Time that is up, and an end by the launcher: rank 0 saves, all stop, and the run can be continued.
#[test]
fn a_stopped_run_is_continued() {
    let _turn = turn();
    let folder = Folder::new();
    let what = "fit planted:4,25,0.4,0.05 --chains 4 --ensembles 2 --iterations 400 --exchange-every 3 --no-report";
    succeed(ranks(&folder, 0, &format!("{what} --quiet --out whole")));
    let output = succeed(ranks(&folder, 3, &format!("{what} --out cut --max-time 1ms")));
    assert!(stderr(&output).contains("armix resume cut"), "{}", stderr(&output));
    // Long enough not to be over; made shorter again afterwards.
    let line = "resume cut --iterations 100000000 --checkpoint-every 1h --no-report";
    let mut job = ranks(&folder, 2, line);
    let mut job = job.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("mpirun");
    let mut reader = BufReader::new(job.stderr.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("\niteration ") || !said.ends_with('\n') {
        assert!(reader.read_line(&mut said).expect("a line") > 0, "it ended by itself: {said}");
    }
    signal("TERM", process_of(0, "100000000").expect("rank 0"));
    reader.read_to_string(&mut said).expect("the rest");
    let status = job.wait_timeout(PATIENCE).expect("a child");
    let _ = job.kill();
    assert_eq!(status.and_then(|s| s.code()), Some(130), "{said}");
    assert!(said.contains("continue with: armix resume cut"), "{said}");
    let trace = fs::read_to_string(folder.path().join("cut/trace.csv")).expect("a trace");
    let done = (trace.lines().count() - 1) / 8;
    assert!(done > 0, "{said}");
    // Wherever it stopped, a single process does the same.
    succeed(ranks(
        &folder,
        4,
        &format!("resume cut --quiet --no-report --iterations {}", done + 9),
    ));
    let line = format!("resume whole --quiet --no-report --iterations {}", (done + 9).max(401));
    succeed(ranks(&folder, 0, &line));
    let (cut, whole) = (results(&folder, "cut"), results(&folder, "whole"));
    let (cut, whole) = (&cut["trace.csv"], &whole["trace.csv"]);
    let shared = cut.len().min(whole.len());
    assert!(shared > 1000 && cut[..shared] == whole[..shared]);
}

/// What goes wrong on one rank is said once, and ends the job.
#[test]
fn an_error_on_any_rank_ends_the_job() {
    let _turn = turn();
    let folder = Folder::new();
    let once = |command: Command, code: i32, text: &str| {
        let output = finish(command);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert_eq!(said.matches(text).count(), 1, "{text}: {said}");
    };
    once(ranks(&folder, 3, "fit no.edges"), 2, "armix: no.edges");
    once(ranks(&folder, 3, "fit karate --chains none"), 2, "error: invalid value 'none'");
    once(ranks(&folder, 3, "fit karate --alpha -1 --quiet"), 2, "armix: ");
    once(ranks(&folder, 2, "resume nowhere"), 2, "armix: ");
    fs::create_dir_all(folder.path().join("taken")).expect("a folder");
    fs::write(folder.path().join("taken/run.json"), "{}").expect("a file");
    once(ranks(&folder, 2, "fit karate --out taken"), 2, "holds a run already");
    // Data that another rank does not have, or has otherwise: this path is another file in every folder.
    for (host, data) in [("here", "0 1\n1 2\n"), ("other", "0 1\n1 2\n2 3\n"), ("nothing", "")] {
        fs::create_dir_all(folder.path().join(host)).expect("a folder");
        if !data.is_empty() {
            fs::write(folder.path().join(host).join("a.edges"), data).expect("a file");
        }
    }
    for (host, text) in [("other", "has changed"), ("nothing", "no longer there")] {
        let fit = [ARMIX, "fit", "/proc/self/cwd/a.edges", "--quiet", "--no-save"];
        let mut job = command(&folder, "mpirun");
        job.args(["-n", "1", "-wdir", "here"]).args(fit).arg(":");
        job.args(["-n", "1", "-wdir", host]).args(fit);
        let output = finish(job);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("armix: rank 1 of 2: ") && said.contains(text), "{said}");
    }
    // In the middle of a run: a panic on a rank, and a disk that rank 0 cannot write to any longer.
    let line = "fit karate --quiet --no-save --iterations 100000000";
    for rank in [0, 2] {
        let mut job = ranks(&folder, 3, line);
        job.env("ARMIX_TEST_PANIC", format!("{rank}:40"));
        once(job, 101, &format!("armix: rank {rank} of 3 failed; this ends the run on all ranks"));
    }
    let mut job = ranks(
        &folder,
        2,
        &format!("{line} --checkpoint-every 50ms").replace("--no-save", "--out gone"),
    );
    let mut job = job.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("mpirun");
    let began = Instant::now();
    while !folder.path().join("gone/checkpoint/state").exists() {
        assert!(began.elapsed() < PATIENCE, "no checkpoint");
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::rename(folder.path().join("gone"), folder.path().join("elsewhere")).expect("moved");
    let status = job.wait_timeout(PATIENCE).expect("a child");
    let _ = job.kill();
    let said = stderr(&job.wait_with_output().expect("an output"));
    assert!(status.is_some_and(|s| !s.success()), "{said}");
    assert!(said.contains("armix: rank 0 of 2: gone/"), "{said}");
}

/// The job script for Slurm, with mpirun in place of srun and of the queue: it runs, stops, and goes on.
#[test]
fn the_job_script_goes_on_until_the_run_is_done() {
    let _turn = turn();
    let folder = Folder::new();
    let what = "--ensembles 2 --chains 3 --iterations 300 --quiet";
    succeed(ranks(&folder, 0, &format!("fit karate {what} --out alone --no-report")));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/slurm.sh");
    let bin = Path::new(ARMIX).parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let job = |time: &str| {
        let mut job = command(&folder, "bash");
        job.args([script, "karate", "run"]).args(what.split_whitespace()).env("PATH", &path);
        job.env("ARMIX_LAUNCH", "mpirun -n 3").env("ARMIX_REQUEUE", "echo requeued");
        job.env("ARMIX_MAX_TIME", time).env("SLURM_CPUS_PER_TASK", "1");
        String::from_utf8_lossy(&succeed(job).stdout).into_owned()
    };
    assert!(job("1ms").ends_with("requeued\n"));
    assert!(!job("1h").contains("requeued"));
    assert!(results(&folder, "run") == results(&folder, "alone"));
    assert!(folder.path().join("run/report.html").exists());
}

/// Without a launcher, or with `ARMIX_MPI=off`, there is one process and no MPI.
#[test]
fn mpi_can_be_left_out() {
    let _turn = turn();
    let folder = Folder::new();
    let mut alone = ranks(&folder, 0, "fit karate --iterations 3 --no-save --quiet");
    alone.env("OMPI_COMM_WORLD_RANK", "1").env("OMPI_COMM_WORLD_SIZE", "2").env("ARMIX_MPI", "off");
    assert!(!succeed(alone).stdout.is_empty());
}

/// Two "hosts": network namespaces with names and addresses of their own, which nothing but TCP connects.
#[test]
fn hosts_that_share_nothing_but_a_network() {
    let _turn = turn();
    let folder = Folder::new();
    let hosts = Hosts::new();
    let hosts = match hosts {
        Ok(hosts) => hosts,
        Err(reason) => return eprintln!("SKIPPED: runs over several hosts ({reason})"),
    };
    succeed(ranks(&folder, 0, &format!("{SMALL} --quiet --out alone")));
    // What ssh does elsewhere: a command on a host.
    let agent = folder.path().join("agent");
    let text = "#!/bin/sh\nhost=$1; shift\nexec ip netns exec armix-$host unshare --uts sh -c \"hostname armix-$host; $*\"\n";
    fs::write(&agent, text).expect("a script");
    Command::new("chmod").args(["+x", "agent"]).current_dir(folder.path()).status().expect("chmod");
    let mut job = command(&folder, "ip");
    job.args(["netns", "exec", &format!("armix-{}", hosts.0[0])]);
    job.args(["mpirun", "--mca", "plm_rsh_agent", &agent.display().to_string()]);
    job.args(["--mca", "btl_tcp_if_include", "10.213.7.0/24"]);
    job.args(["--mca", "oob_tcp_if_include", "10.213.7.0/24"]);
    job.args(["--host", &hosts.0.map(|host| format!("{host}:2")).join(",")]);
    job.args(["-n", "4", ARMIX]).args(SMALL.split_whitespace()).args(["--out", "hosts"]);
    let output = succeed(job);
    assert!(stderr(&output).contains("4 ranks"), "{}", stderr(&output));
    assert!(results(&folder, "hosts") == results(&folder, "alone"));
}

/// Two namespaces with a cable between them; they are gone when this is.
struct Hosts([&'static str; 2]);

impl Hosts {
    fn new() -> Result<Self, String> {
        let ip = |line: &str| {
            let output = Command::new("ip").args(line.split_whitespace()).output();
            match output {
                Ok(output) if output.status.success() => Ok(()),
                Ok(output) => Err(format!("ip {line}: {}", stderr(&output).trim())),
                Err(error) => Err(format!("ip: {error}")),
            }
        };
        let hosts = Hosts(["10.213.7.1", "10.213.7.2"]);
        for host in hosts.0 {
            ip(&format!("netns add armix-{host}"))?;
        }
        let [a, b] = hosts.0;
        ip(&format!("-n armix-{a} link add cable type veth peer name cable netns armix-{b}"))?;
        for host in hosts.0 {
            ip(&format!("-n armix-{host} addr add {host}/24 dev cable"))?;
            ip(&format!("-n armix-{host} link set cable up"))?;
            ip(&format!("-n armix-{host} link set lo up"))?;
        }
        Ok(hosts)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in self.0 {
            let _ = Command::new("ip").args(["netns", "del", &format!("armix-{host}")]).output();
        }
    }
}
