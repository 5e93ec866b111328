//! What is known about a partition beforehand: items that belong together, items of known groups, and a
//! largest number of blocks.

use crate::error::{Error, Result};
use crate::partition::Item;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// What a user knows beforehand, in the user's own names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Beforehand {
    /// Lists of items that belong together.
    pub together: Vec<Vec<String>>,
    /// Items whose groups are known, each with its group.
    pub known: Vec<(String, String)>,
    /// The largest number of blocks.
    pub max_blocks: Option<usize>,
}

impl Beforehand {
    /// The constraints of items with these names. Unless `all` of the data are there, names of items that
    /// are not are left out.
    pub fn constraints(&self, names: &[String], all: bool) -> Result<Constraints> {
        let index = Index::new(names);
        let find = |name: &String, known: &dyn Fn() -> String| match index.find(name) {
            Ok(item) => Ok(Some(item)),
            Err(_) if !all && !index.has(name) => Ok(None),
            Err(error) => {
                Err(Error::new(format!("what is known beforehand ({}): {error}", known())))
            }
        };
        let list = |list: &Vec<String>| -> Result<Vec<usize>> {
            let whole = || format!("that {} belong together", list.join(", "));
            list.iter().filter_map(|name| find(name, &whole).transpose()).collect()
        };
        let together = self.together.iter().map(list).collect::<Result<Vec<_>>>()?;
        let group = |(name, group): &(String, String)| {
            let known = || format!("group '{group}'");
            Ok(find(name, &known)?.map(|item| (item, group.clone())))
        };
        let known = (self.known.iter().filter_map(|pair| group(pair).transpose()))
            .collect::<Result<Vec<_>>>()?;
        Constraints::new(names, &together, &known, self.max_blocks)
    }
}

/// Where items are, by their names. Several may share a name, which then tells nothing.
pub(crate) struct Index<'a> {
    names: &'a [String],
    /// The first item of each name, and the second one, if there is one.
    places: HashMap<&'a str, (usize, Option<usize>)>,
}

impl<'a> Index<'a> {
    /// The items with these names.
    pub(crate) fn new(names: &'a [String]) -> Self {
        let mut places: HashMap<&str, (usize, Option<usize>)> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            places
                .entry(name)
                .and_modify(|(_, second)| *second = second.or(Some(at)))
                .or_insert((at, None));
        }
        Index { names, places }
    }

    fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The one item of this name.
    pub(crate) fn find(&self, name: &str) -> Result<usize> {
        match self.places.get(name) {
            Some(&(item, None)) => Ok(item),
            Some(&(first, Some(second))) => Err(Error::new(format!(
                "there are two items '{name}' in the data (numbers {first} and {second}, counted from 0), and it cannot be told which one is meant: give them different names in the data, or leave this one out"
            ))),
            None => {
                let few: Vec<String> =
                    self.names.iter().take(3).map(|name| format!("'{name}'")).collect();
                let dots = if self.names.len() > 3 { ", …" } else { "" };
                Err(Error::new(format!(
                    "there is no item '{name}' in the data; the items are {}{dots} (rows of a table are numbered from 0 unless a column names them)",
                    few.join(", ")
                )))
            }
        }
    }
}

/// The partitions that are possible; all of them by default. The others have probability 0.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    units: Arc<Units>,
    most_blocks: Option<usize>,
    /// On which of two sides each item is, if there are two: no block has items of both.
    sides: Option<Arc<[bool]>>,
    /// The names of all items, for messages, if some are tied.
    names: Arc<[String]>,
}

/// Items that are always moved together. An item that nothing is known about is a unit by itself.
#[derive(Debug, Default)]
pub struct Units {
    /// For each item the first of its unit; empty if all units are single items.
    leader: Vec<Item>,
    /// The members of each leader's unit, the leader first: a range of `members`. Empty for other items.
    range: Vec<std::ops::Range<usize>>,
    members: Vec<Item>,
    /// For each leader whether its group is known. Two such units are never in one block.
    known: Vec<bool>,
}

impl Units {
    /// The unit that an item leads: itself alone, or all that it is tied to; nothing if another leads it.
    #[inline]
    pub fn led_by<'a>(&'a self, item: &'a Item) -> &'a [Item] {
        match self.range.get(item.index()) {
            None => std::slice::from_ref(item),
            Some(range) => &self.members[range.clone()],
        }
    }

    /// The item that leads the unit of an item.
    #[inline]
    pub fn leader(&self, item: Item) -> Item {
        self.leader.get(item.index()).copied().unwrap_or(item)
    }

    /// Sorts items so that each unit follows its leader, which stands where it stood.
    pub fn gather(&self, items: &mut Vec<Item>) {
        if !self.leader.is_empty() {
            let leaders = items.clone();
            items.clear();
            leaders.iter().for_each(|leader| items.extend_from_slice(self.led_by(leader)));
        }
    }

    /// The same units, but all items of the cells of two items are in one unit each. Cells contain whole units.
    pub(crate) fn with_sets(&self, cells: &[u32], pair: [Item; 2], sets: &mut Units) {
        let Units { leader, range, members, known } = sets;
        let leads = pair.map(|item| self.leader(item));
        let set_of = |item: Item| {
            pair.iter().position(|of| cells[of.index()] == cells[item.index()]).map(|at| leads[at])
        };
        leader.clear();
        range.clear();
        members.clear();
        known.clear();
        let items = || (0..cells.len()).map(Item::new);
        leader.extend(items().map(|item| set_of(item).unwrap_or_else(|| self.leader(item))));
        for item in items() {
            let start = members.len();
            if leads.contains(&item) {
                members.push(item);
                members.extend(
                    items().filter(|&other| other != item && leader[other.index()] == item),
                );
            } else if leader[item.index()] == item {
                members.extend_from_slice(self.led_by(&item));
            }
            range.push(start..members.len());
        }
    }

    /// How many units of known groups are among these items.
    #[inline]
    pub(crate) fn known_among(&self, items: &[Item]) -> u32 {
        match self.known.is_empty() {
            true => 0,
            false => items.iter().map(|item| u32::from(self.known[item.index()])).sum(),
        }
    }
}

impl Constraints {
    /// Of n items, those of each list are `together`, and the `known` ones belong to the groups that are
    /// named: the same group, the same block; another group, another block. There are at most `most_blocks`
    /// blocks. The names are for messages.
    ///
    /// ```
    /// let names = ["a", "b", "c"].map(String::from);
    /// let known = [(0, "x".to_string()), (2, "y".to_string())];
    /// let constraints = armix::constraints::Constraints::new(&names, &[], &known, Some(2)).unwrap();
    /// assert!(constraints.allow(&[0, 0, 1]));
    /// assert!(!constraints.allow(&[0, 1, 0]));
    /// ```
    pub fn new(
        names: &[String],
        together: &[Vec<usize>],
        known: &[(usize, String)],
        most_blocks: Option<usize>,
    ) -> Result<Self> {
        let n = names.len();
        if most_blocks == Some(0) {
            return Err(Error::new("there must be at least one block: --max-blocks 1 or more"));
        }
        let units = match together.is_empty() && known.is_empty() {
            true => Units::default(),
            false => tie(names, together, known)?,
        };
        let groups = units.known.iter().filter(|&&k| k).count();
        if most_blocks.is_some_and(|most| groups > most) {
            return Err(Error::new(format!(
                "{groups} groups are known, more than --max-blocks {} allows; raise it",
                most_blocks.unwrap_or(0)
            )));
        }
        let most_blocks = most_blocks.filter(|&most| most < n);
        let names = if units.leader.is_empty() { Arc::default() } else { names.into() };
        Ok(Constraints { units: Arc::new(units), most_blocks, sides: None, names })
    }

    /// The same where no block has items of two sides; refused if that cannot be.
    pub fn between(self, sides: &[bool]) -> Result<Self> {
        self.check_sides(sides)?;
        let groups = |of: bool| {
            let units = self.units.known.iter().zip(sides);
            units.filter(|&(&known, &side)| known && side == of).count()
        };
        let occupied = [false, true].into_iter().filter(|side| sides.contains(side));
        let needed: usize = occupied.map(|side| groups(side).max(1)).sum();
        if let Some(most) = self.most_blocks.filter(|&most| most < needed) {
            return Err(Error::new(format!(
                "no block has vertices of both sides, so that there are at least {needed} blocks, more than --max-blocks {most} allows; raise it"
            )));
        }
        Ok(Constraints { sides: Some(sides.into()), ..self })
    }

    fn check_sides(&self, sides: &[bool]) -> Result<()> {
        let side = |item: Item| sides[item.index()];
        let mixed =
            (0..sides.len()).map(Item::new).find(|&i| side(i) != side(self.units.leader(i)));
        match mixed {
            Some(item) => Err(Error::new(format!(
                "'{}' and '{}' are on two sides, but are known to be of one group or to belong together: correct --known or --together",
                self.names[self.units.leader(item).index()],
                self.names[item.index()]
            ))),
            None => Ok(()),
        }
    }

    /// Whether every partition is possible.
    pub fn is_none(&self) -> bool {
        self.units.leader.is_empty() && self.most_blocks.is_none()
    }

    /// What is moved together.
    pub fn units(&self) -> &Arc<Units> {
        &self.units
    }

    /// The largest number of blocks.
    pub fn most_blocks(&self) -> Option<usize> {
        self.most_blocks
    }

    /// Whether the groups of some items are known.
    #[inline]
    pub(crate) fn know_groups(&self) -> bool {
        !self.units.known.is_empty()
    }

    /// Whether a labelled partition is possible.
    pub fn allow(&self, labels: &[u32]) -> bool {
        if self.is_none() {
            return true;
        }
        let mut labels = labels.to_vec();
        self.divide(&mut labels); // as is done with all labels that chains start from
        let mut allowed = labels.clone();
        self.enforce(&mut allowed);
        crate::partition::canonical(&allowed) == crate::partition::canonical(&labels)
    }

    /// Divides blocks that have items of two sides.
    fn divide(&self, labels: &mut [u32]) {
        if let Some(sides) = &self.sides {
            labels.iter_mut().zip(&**sides).for_each(|(k, &side)| *k = 2 * *k + u32::from(side));
        }
    }

    /// Whether a refinement of past states, all of which are possible, can look like this: it keeps what is
    /// tied together.
    pub(crate) fn allow_past(&self, agreed: &[u32]) -> bool {
        let leader = |index: usize| self.units.leader(Item::new(index)).index();
        (0..agreed.len()).all(|index| agreed[index] == agreed[leader(index)])
    }

    /// Changes labels as little as is simple, so that the partition is possible.
    pub fn enforce(&self, labels: &mut [u32]) {
        if self.is_none() {
            return;
        }
        self.divide(labels);
        for index in 0..labels.len() {
            labels[index] = labels[self.units.leader(Item::new(index)).index()];
        }
        let canonical = crate::partition::canonical(labels);
        labels.copy_from_slice(&canonical);
        // Each known group beyond the first in a block gets a block of its own.
        let mut blocks = labels.iter().max().map_or(0, |&most| most + 1);
        let mut taken: HashMap<u32, Item> = HashMap::new();
        for leader in (0..labels.len()).map(Item::new) {
            if !self.know_groups() || !self.units.known[leader.index()] {
                continue;
            }
            let block = labels[leader.index()];
            if *taken.entry(block).or_insert(leader) != leader {
                self.units.led_by(&leader).iter().for_each(|m| labels[m.index()] = blocks);
                taken.insert(blocks, leader);
                blocks += 1;
            }
        }
        // Too many blocks: those without a known group join the first blocks that remain.
        let Some(most) = self.most_blocks else { return };
        let canonical = crate::partition::canonical(labels);
        let known = |block: u32| {
            (0..canonical.len())
                .any(|i| canonical[i] == block && self.know_groups() && self.units.known[i])
        };
        let side = |block: u32| {
            let first = canonical.iter().position(|&b| b == block);
            self.sides.as_ref().is_some_and(|sides| first.is_some_and(|item| sides[item]))
        };
        let blocks = canonical.iter().max().map_or(0, |&most| most + 1);
        let (mut kept, mut others): (Vec<u32>, Vec<u32>) = (0..blocks).partition(|&b| known(b));
        // A side without a known group keeps its first block before others do.
        let lacking = |of: &bool| !kept.iter().any(|&b| side(b) == *of);
        let first_of = |of: bool| others.iter().copied().find(|&b| side(b) == of);
        let needed: Vec<u32> =
            [false, true].into_iter().filter(lacking).filter_map(first_of).collect();
        others.sort_by_key(|block| !needed.contains(block));
        let stay = (most - kept.len()).min(others.len());
        kept.extend_from_slice(&others[..stay]);
        let mut goes_to: Vec<u32> = (0..blocks).collect();
        for (at, &block) in others[stay..].iter().enumerate() {
            let alike: Vec<u32> =
                kept.iter().copied().filter(|&b| side(b) == side(block)).collect();
            goes_to[block as usize] = alike[at % alike.len()];
        }
        labels
            .iter_mut()
            .zip(canonical)
            .for_each(|(label, block)| *label = goes_to[block as usize]);
    }
}

/// Ties items together that belong together.
fn tie(names: &[String], together: &[Vec<usize>], known: &[(usize, String)]) -> Result<Units> {
    let mut leader: Vec<usize> = (0..names.len()).collect();
    fn root(leader: &[usize], mut item: usize) -> usize {
        while leader[item] != item {
            item = leader[item];
        }
        item
    }
    let mut join = |a: usize, b: usize| {
        let (a, b) = (root(&leader, a), root(&leader, b));
        leader[a.max(b)] = a.min(b); // the first leads
    };
    for list in together {
        list.windows(2).for_each(|pair| join(pair[0], pair[1]));
    }
    let mut first_of: HashMap<&str, usize> = HashMap::new();
    for (item, group) in known {
        let first = *first_of.entry(group).or_insert(*item);
        join(first, *item);
    }
    let leader: Vec<usize> = (0..names.len()).map(|item| root(&leader, item)).collect();
    let mut group_of: HashMap<usize, (usize, &str)> = HashMap::new();
    for (item, group) in known {
        let (other, before) = *group_of.entry(leader[*item]).or_insert((*item, group));
        if before != group {
            return Err(Error::new(format!(
                "{} is known to be of group '{before}' and {} of group '{group}', but they are tied together; drop one of the three",
                names[other], names[*item]
            )));
        }
    }
    let mut lists: Vec<Vec<Item>> = vec![Vec::new(); names.len()];
    leader.iter().enumerate().for_each(|(item, &leader)| lists[leader].push(Item::new(item)));
    let mut units =
        Units { leader: leader.into_iter().map(Item::new).collect(), ..Units::default() };
    for list in &lists {
        let start = units.members.len();
        units.members.extend_from_slice(list);
        units.range.push(start..units.members.len());
    }
    if !known.is_empty() {
        units.known = (0..names.len()).map(|item| group_of.contains_key(&item)).collect();
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::all_partitions;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("v{i}")).collect()
    }

    fn group(label: &str, items: &[usize]) -> Vec<(usize, String)> {
        items.iter().map(|&i| (i, label.to_string())).collect()
    }

    #[test]
    fn enforced_partitions_are_allowed_and_allowed_ones_stay() {
        let known = [group("x", &[4, 1]), group("y", &[5])].concat();
        let constraints = Constraints::new(&names(6), &[vec![3, 0]], &known, Some(3)).unwrap();
        let allowed = |z: &[u32]| {
            z[0] == z[3] && z[1] == z[4] && z[1] != z[5] && z.iter().all(|&label| label < 3)
        };
        let mut count = 0;
        for z in all_partitions(6) {
            assert_eq!(constraints.allow(&z), allowed(&z), "{z:?}");
            let mut enforced = z.clone();
            constraints.enforce(&mut enforced);
            let canonical = crate::partition::canonical(&enforced);
            assert!(allowed(&canonical), "{z:?} becomes {canonical:?}");
            count += usize::from(allowed(&z));
        }
        // Of the 15 partitions of 4 units, 5 have x and y together and 1 has four blocks.
        assert_eq!(count, 15 - 5 - 1);
    }

    /// With two sides: as many blocks as are allowed, none of which has both, whatever the start; both sides keep one.
    #[test]
    fn sides_share_the_blocks_that_are_allowed() {
        let sides = [false, true, false, false, true];
        let pure = |z: &[u32]| (0..5).all(|i| (0..i).all(|j| z[i] != z[j] || sides[i] == sides[j]));
        let constraints = |known: &[(usize, String)], most| {
            Constraints::new(&names(5), &[], known, Some(most)).unwrap().between(&sides)
        };
        for (known, most) in
            [(vec![], 2), (vec![], 3), (group("x", &[3]), 2), (group("x", &[4]), 3)]
        {
            let constraints = constraints(&known, most).unwrap();
            for z in all_partitions(5) {
                let mut enforced = z.clone();
                constraints.enforce(&mut enforced);
                assert!(pure(&enforced), "{z:?} becomes {enforced:?}");
                let blocks = crate::partition::canonical(&enforced).into_iter().max().unwrap() + 1;
                assert!(blocks as usize <= most, "{z:?} becomes {enforced:?}");
                let possible = pure(&z) && *z.iter().max().unwrap() < most as u32;
                assert!(!possible || crate::partition::canonical(&enforced) == z, "{z:?}");
            }
        }
        let refused =
            |known: &[(usize, String)], most| constraints(known, most).unwrap_err().to_string();
        assert!(refused(&[], 1).contains("at least 2 blocks"));
        let known = [group("x", &[0]), group("y", &[2])].concat();
        assert!(refused(&known, 2).contains("at least 3 blocks"));
    }

    #[test]
    fn contradictions_are_named() {
        let known = [group("x", &[0]), group("y", &[2])].concat();
        let error = Constraints::new(&names(3), &[vec![0, 1, 2]], &known, None).unwrap_err();
        assert!(error.to_string().contains("v0 is known to be of group 'x' and v2 of group 'y'"));
        let error = Constraints::new(&names(3), &[], &known, Some(1)).unwrap_err();
        assert!(error.to_string().contains("2 groups are known"));
        assert!(Constraints::new(&names(3), &[], &[], Some(0)).is_err());
    }

    #[test]
    fn names_must_tell_items_apart() {
        let names = ["ox", "frog", "hen", "frog"].map(String::from);
        let known = |name: &str| Beforehand {
            known: vec![(name.to_string(), "x".to_string())],
            ..Beforehand::default()
        };
        let refused = |beforehand: Beforehand, all: bool, words: &[&str]| {
            let error = beforehand.constraints(&names, all).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        };
        let two = ["two items 'frog'", "1 and 3"];
        refused(known("frog"), true, &["group 'x'", two[0], two[1]]);
        refused(known("frog"), false, &two);
        let together = vec![vec!["ox".to_string(), "frog".to_string()]];
        refused(Beforehand { together, ..Beforehand::default() }, true, &two);
        refused(
            known("cow"),
            true,
            &["no item 'cow'", "'ox', 'frog', 'hen', …", "numbered from 0"],
        );
        assert!(known("cow").constraints(&names, false).is_ok(), "of a part of the data");
        assert!(known("hen").constraints(&names, true).is_ok());
    }

    #[test]
    fn without_constraints_every_item_leads_itself() {
        let none = Constraints::default();
        assert!(none.is_none());
        assert_eq!(none.units().led_by(&Item::new(2)), [Item::new(2)]);
        assert!(Constraints::new(&names(4), &[], &[], Some(4)).unwrap().is_none());
    }
}
