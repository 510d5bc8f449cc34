mod halves;
mod killed;
mod process;
mod refused;
mod scribbled;
mod sleeping;
