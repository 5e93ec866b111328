//! All tests of the command line in one program: what they share is compiled once, which saves minutes.
//! One kind of them: `cargo test -p armix-cli --test all runs`.

mod answers;
mod bench;
mod cli;
mod common;
mod constraints;
mod input;
mod ladders;
mod networks;
mod paper;
mod priors;
mod process;
mod runs;
