//! Sparse matrices as `.smat`.
#![no_main]

armix_fuzz::target!("x.smat");
