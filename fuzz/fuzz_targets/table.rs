//! Tables as text.
#![no_main]

armix_fuzz::target!("x.csv", "x.tsv");
