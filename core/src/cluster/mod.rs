//! A job of several processes: who starts them, watches them and ends them.

mod hosts;
mod slurm;
