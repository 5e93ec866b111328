//! Matrices of numbers as text.
#![no_main]

armix_fuzz::target!("x.txt", "x");
