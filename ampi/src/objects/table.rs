//! Things by numbers that are used again.

use talisman_pup::Pup;

/// A table. The number of what was removed last is given next.
#[derive(Debug, PartialEq, Pup)]
pub struct Table<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { all: Vec::new(), free: Vec::new() }
    }
}

impl<T> Table<T> {
    /// Adds one; its number.
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop()
            && let Some(place) = self.all.get_mut(number as usize)
        {
            *place = Some(value);
            return number;
        }
        self.all.push(Some(value));
        self.all.len() as u32 - 1
    }

    /// The one of this number.
    pub fn get(&self, number: u32) -> Option<&T> {
        self.all.get(number as usize)?.as_ref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.all.get_mut(number as usize)?.as_mut()
    }

    /// Takes one out.
    pub fn remove(&mut self, number: u32) -> Option<T> {
        let removed = self.all.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(removed)
    }

    /// All, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.all).filter_map(|(number, value)| Some((number, value.as_ref()?)))
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn numbers_are_used_again() {
        let mut table = Table::default();
        assert_eq!((table.insert('a'), table.insert('b'), table.insert('c')), (0, 1, 2));
        assert_eq!((table.remove(1), table.remove(1), table.remove(3)), (Some('b'), None, None));
        assert_eq!((table.insert('d'), table.insert('e')), (1, 3));
        assert_eq!(table.iter().map(|(_, value)| *value).collect::<String>(), "adce");
        (0..4).for_each(|number| assert!(table.remove(number).is_some()));
        assert!(table.is_empty());
        assert_eq!(table.get(0), None);
    }
}
