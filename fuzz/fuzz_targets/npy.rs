//! NumPy arrays.
#![no_main]

armix_fuzz::target!("x.npy");
