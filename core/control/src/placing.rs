//! On which host a process is started: real launchers and simulated ones ask this.

use std::cmp::Reverse;

use talisman_observe::sometimes::sometimes;

/// What there is to know of a host for that.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Of the host, among those of the job.
    pub number: u32,
    /// Processes that it takes.
    pub slots: u32,
    /// Those that it has, or has had last.
    pub taken: u32,
    /// Whether anything can be started there.
    pub is_open: bool,
}

/// Where the former process was; if nothing can be started there any more, or there was none, on the host with the most slots free, of several
/// the first. By their places in the list.
pub fn place_for(rooms: &[Room], former: Option<usize>) -> Option<usize> {
    let is_open = |place: &usize| rooms.get(*place).is_some_and(|room| room.is_open);
    let most_free = || {
        let all = (0..rooms.len()).filter(is_open);
        all.max_by_key(|place| (rooms[*place].free(), Reverse(rooms[*place].number)))
    };
    let place = former.filter(is_open).or_else(most_free);
    if former.is_some() && place.is_some() && place != former {
        sometimes("a process was started on another host than the one before it");
    }
    place
}

impl Room {
    fn free(&self) -> i64 {
        i64::from(self.slots) - i64::from(self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(number: u32, slots: u32, taken: u32) -> Room {
        Room { number, slots, taken, is_open: true }
    }

    #[test]
    fn a_process_is_where_the_one_before_it_was_unless_that_host_is_lost() {
        let rooms = [room(0, 1, 2), room(1, 4, 1), room(2, 8, 2)];
        assert_eq!(place_for(&rooms, Some(0)), Some(0), "however full");
        assert_eq!(place_for(&rooms, None), Some(2));
        let lost = |place: usize| {
            let mut rooms = rooms;
            rooms[place].is_open = false;
            rooms
        };
        assert_eq!(place_for(&lost(0), Some(0)), Some(2));
        assert_eq!(place_for(&lost(2), Some(2)), Some(1));
    }

    #[test]
    fn of_hosts_with_as_much_room_the_first_is_taken_and_of_none_nothing() {
        let equal = [room(2, 1, 1), room(1, 2, 2), room(3, 4, 4)];
        assert_eq!(place_for(&equal, None), Some(1));
        let closed = [Room { is_open: false, ..room(0, 1, 0) }];
        assert_eq!(place_for(&closed, Some(0)), None);
        assert_eq!(place_for(&[], None), None);
    }
}
