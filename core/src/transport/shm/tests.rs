mod halves;
mod killed;
mod process;
mod sleeping;
