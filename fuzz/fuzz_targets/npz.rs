//! NumPy and SciPy archives.
#![no_main]

armix_fuzz::target!("x.npz");
