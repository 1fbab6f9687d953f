//! Runs the fuzz targets on random bytes, with any compiler.
//!
//! Usage: `statpriv-fuzz EXECUTIONS [SEED]` or `statpriv-fuzz replay TARGET HEX`.

use statpriv_fuzz::targets::{ALL, Target};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

const WORKERS: u64 = 2;
const LONGEST_INPUT: u64 = 160;
/// Time limit of one execution. A longer one counts as an endless loop.
const STUCK: Duration = Duration::from_secs(60);

/// Number of quick targets. These are the first ones, and an execution takes microseconds.
const QUICK: u64 = 4;
/// Indices of the slow targets, which take about ten milliseconds each. They run in the first turns of every
/// [`TURNS`], and take at least half the time of a long run.
const SLOW: [usize; 12] = [4, 4, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11];
const TURNS: u64 = 1024;

/// One step of `SplitMix64`.
fn scrambled(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The input of one execution.
fn input(seed: u64, execution: u64) -> Vec<u8> {
    let mut state = seed ^ execution.wrapping_mul(0xd134_2543_de82_ef95);
    let length = scrambled(&mut state) % LONGEST_INPUT;
    (0..length).map(|_| scrambled(&mut state) as u8).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn target_of(execution: u64) -> Target {
    let turn = execution / WORKERS % TURNS;
    ALL[SLOW.get(turn as usize).copied().unwrap_or((turn % QUICK) as usize)]
}

fn report(seed: u64, execution: u64, what: &str) {
    let (name, _) = target_of(execution);
    println!("{what}: replay {name} {}", hex(&input(seed, execution)));
}

fn run(executions: u64, seed: u64) -> ExitCode {
    println!("{executions} executions, seed {seed}");
    let (begun, done, failed) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
    let running: Vec<Mutex<(u64, Instant)>> = (0..WORKERS).map(|_| Mutex::new((0, Instant::now()))).collect();
    let slowest = Mutex::new((Duration::ZERO, 0));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (running, slowest, done, failed) = (&running, &slowest, &done, &failed);
            scope.spawn(move || {
                for execution in (worker..executions).step_by(WORKERS as usize) {
                    let start = Instant::now();
                    *running[worker as usize].lock().expect("a lock") = (execution, start);
                    let (bytes, (_, body)) = (input(seed, execution), target_of(execution));
                    if catch_unwind(|| body(&bytes)).is_err() {
                        report(seed, execution, "FAILED");
                        failed.store(true, Ordering::Relaxed);
                    }
                    let mut worst = slowest.lock().expect("a lock");
                    *worst = (*worst).max((start.elapsed(), execution));
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut told = begun;
        while done.load(Ordering::Relaxed) < executions {
            std::thread::sleep(Duration::from_millis(500));
            for worker in &running {
                let (execution, start) = *worker.lock().expect("a lock");
                if start.elapsed() > STUCK && done.load(Ordering::Relaxed) < executions {
                    report(seed, execution, "STUCK");
                    std::process::exit(2);
                }
            }
            if told.elapsed() > Duration::from_secs(30) {
                told = Instant::now();
                println!("{} of {executions}, {} s", done.load(Ordering::Relaxed), begun.elapsed().as_secs());
            }
        }
    });
    let (longest, execution) = *slowest.lock().expect("a lock");
    report(seed, execution, &format!("slowest ({longest:?})"));
    println!("{executions} executions in {:?}", begun.elapsed());
    if failed.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn replay(name: &str, digits: &str) -> ExitCode {
    let bytes: Option<Vec<u8>> =
        (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok()).collect();
    let target = ALL.iter().find(|(known, _)| *known == name);
    let (Some(bytes), Some((_, body))) = (bytes, target) else { return usage() };
    body(&bytes);
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    println!("usage: statpriv-fuzz EXECUTIONS [SEED] | replay TARGET HEX");
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
    match (words.as_slice(), words.first().and_then(|count| count.parse().ok())) {
        (["replay", name, digits], _) => replay(name, digits),
        ([_], Some(executions)) => run(executions, now),
        ([_, seed], Some(executions)) => seed.parse().map_or_else(|_| usage(), |seed| run(executions, seed)),
        _ => usage(),
    }
}
