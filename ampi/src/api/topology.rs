//! Grids and graphs of members (MPI-3.1, chapter 7).
//!
//! ```
//! # extern crate talisman_core as talisman;
//! use talisman_ampi::api::{Error, Universe, traits::*};
//!
//! fn program(universe: Universe) -> Result<(), Error> {
//!     // Two rows that end, two columns that are a ring.
//!     let Some(grid) = universe.world().cartesian(&[(2, false), (2, true)])? else { return Ok(()) };
//!     let here = grid.coordinates(grid.rank())?;
//!     assert_eq!(grid.rank_at(&[i64::from(here[0]), i64::from(here[1]) + 2])?, Some(grid.rank()));
//!     let (above, below) = grid.shift(0, 1)?;
//!     assert_eq!((above.is_some(), below.is_some()), (here[0] == 1, here[0] == 0));
//!     // What each has comes to those beside it: above, below, left, right.
//!     let mut around = [-1; 4];
//!     grid.neighbor_all_gather_into(&grid.rank(), &mut around)?;
//!     assert_eq!(around[0] == -1, here[0] == 0, "nobody is above the first row");
//!     assert_eq!(around[2], around[3], "a ring of two");
//!     Ok(())
//! }
//! # talisman_ampi::api::run_alone(4, program);
//! ```

use std::panic::Location;

use super::collective::gather_numbers;
use super::{Communicator, Error, Process, Rank};
use crate::comm::topology::{Adjacent, Cartesian, Topology};
use crate::comm::{self, Group};

impl Communicator {
    /// The first members as a grid of these lengths, each with whether its ends are neighbours (`MPI_Cart_create`); none
    /// for the others. All members call it. [`dims_create`](crate::comm::topology::dims_create) chooses lengths.
    ///
    /// # Errors
    /// If it has more places than there are members, or too many communicators were made.
    #[track_caller]
    pub fn cartesian(&self, dimensions: &[(u32, bool)]) -> Result<Option<Communicator>, Error> {
        let places = Cartesian::new(dimensions).ok_or(Error::Topology)?.size();
        if places > self.size() as u32 {
            return Err(Error::Topology);
        }
        let [number] = gather_numbers(*self, [self.new_number()?], Location::caller())?[0];
        self.make(|communicator| {
            let members: Vec<u32> =
                (0..places).filter_map(|member| communicator.group().member(member)).collect();
            let grid = Cartesian::new(dimensions)?;
            let mut made = communicator.create(number as u32, &Group::of(&members))?;
            made.topology = Some(Topology::Cartesian(grid));
            Some(made)
        })
    }

    /// A graph of which each member tells its own edges: from whom it receives, and to whom it sends
    /// (`MPI_Dist_graph_create_adjacent`). All members call it.
    ///
    /// # Errors
    /// If there is no such member, or too many communicators were made.
    #[track_caller]
    pub fn graph(&self, sources: &[Rank], destinations: &[Rank]) -> Result<Communicator, Error> {
        let size = self.size();
        if let Some(rank) = sources.iter().chain(destinations).find(|rank| !(0..size).contains(*rank)) {
            return Err(Error::Rank { rank: *rank, size });
        }
        let [number] = gather_numbers(*self, [self.new_number()?], Location::caller())?[0];
        let numbers = |ranks: &[Rank]| ranks.iter().map(|rank| *rank as u32).collect();
        let made = self.make(|communicator| {
            let mut made = communicator.duplicate(number as u32, comm::Attributes::default());
            let (sources, destinations) = (numbers(sources), numbers(destinations));
            made.topology =
                Some(Topology::Adjacent(Adjacent { sources, destinations, ..Adjacent::default() }));
            Some(made)
        })?;
        made.ok_or(Error::Request)
    }

    /// How many members this one receives from and sends to in collectives of neighbours; those of a grid are counted beyond
    /// its ends, too (`MPI_Dist_graph_neighbors_count`).
    ///
    /// # Errors
    /// If it has no topology.
    pub fn neighbor_counts(&self) -> Result<(usize, usize), Error> {
        let counts = self.look(|communicator| {
            let neighbors = communicator.topology.as_ref()?.neighbors(communicator.rank()?);
            Some((neighbors.sources.len(), neighbors.destinations.len()))
        })?;
        counts.ok_or(Error::Topology)
    }

    /// Where a member is in the grid (`MPI_Cart_coords`).
    ///
    /// # Errors
    /// If it is no grid, or has no such member.
    pub fn coordinates(&self, rank: Rank) -> Result<Vec<u32>, Error> {
        let dimensions = self.look_at_grid(|grid, _| grid.dimensions().len())?;
        let size = self.size();
        let member = u32::try_from(rank).ok().filter(|_| rank < size).ok_or(Error::Rank { rank, size })?;
        let mut coordinates = vec![0; dimensions];
        self.look_at_grid(|grid, _| coordinates.copy_from_slice(&grid.coordinates(member)))?;
        Ok(coordinates)
    }

    /// Who is at a place of the grid (`MPI_Cart_rank`); none beyond an end.
    ///
    /// # Errors
    /// If it is no grid, or has another number of dimensions.
    pub fn rank_at(&self, coordinates: &[i64]) -> Result<Option<Rank>, Error> {
        let found = self.look_at_grid(|grid, _| {
            let fits = grid.dimensions().len() == coordinates.len();
            fits.then(|| grid.member(coordinates))
        })?;
        Ok(found.ok_or(Error::Topology)?.map(|member| member as Rank))
    }

    /// Whom to receive from and whom to send to, to move everything by so many places along a dimension
    /// (`MPI_Cart_shift`); none beyond an end.
    ///
    /// # Errors
    /// If it is no grid, or has no such dimension.
    pub fn shift(&self, dimension: usize, by: i64) -> Result<(Option<Process>, Option<Process>), Error> {
        let found = self.look_at_grid(|grid, member| {
            let is_there = dimension < grid.dimensions().len();
            is_there.then(|| grid.shift(member, dimension, by))
        })?;
        let (from, to) = found.ok_or(Error::Topology)?;
        let process = |member: Option<u32>| member.map(|member| self.process_at_rank(member as Rank));
        Ok((process(from), process(to)))
    }

    /// The part of the grid that the caller is in and in which only these dimensions vary (`MPI_Cart_sub`). All members
    /// call it.
    ///
    /// # Errors
    /// If it is no grid, or has another number of dimensions.
    #[track_caller]
    pub fn part_of_grid(&self, kept: &[bool]) -> Result<Communicator, Error> {
        let found = self.look_at_grid(|grid, member| {
            let fits = grid.dimensions().len() == kept.len();
            fits.then(|| {
                let (_, color, key) = grid.part(member, kept);
                (color as i32, key as i32)
            })
        })?;
        let (color, key) = found.ok_or(Error::Topology)?;
        let part =
            self.split_by_color_with_key(super::Color::with_value(color), key)?.ok_or(Error::Topology)?;
        let dimensions = self.dimensions_kept(kept)?;
        part.change(|made| made.topology = Cartesian::new(&dimensions).map(Topology::Cartesian))?;
        Ok(part)
    }

    fn dimensions_kept(&self, kept: &[bool]) -> Result<Vec<(u32, bool)>, Error> {
        let mut dimensions = vec![(0, false); kept.iter().filter(|kept| **kept).count()];
        self.look_at_grid(|grid, _| {
            let those = grid.dimensions().iter().zip(kept).filter(|(_, kept)| **kept);
            dimensions.iter_mut().zip(those).for_each(|(place, (dimension, _))| *place = *dimension);
        })?;
        Ok(dimensions)
    }

    /// The grid, and the number of the caller in it.
    fn look_at_grid<T: Copy>(&self, at: impl FnOnce(&Cartesian, u32) -> T) -> Result<T, Error> {
        let found = self.look(|communicator| match (&communicator.topology, communicator.rank()) {
            (Some(Topology::Cartesian(grid)), Some(rank)) => Some(at(grid, rank)),
            _ => None,
        })?;
        found.ok_or(Error::Topology)
    }
}
