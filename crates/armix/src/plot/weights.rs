//! The matrix of a network with directions, weights or two sides, in the order of the blocks.

use super::colour::{BLACK, OKABE_ITO, WHITE, mixed};
use super::drawing::{Anchor, Area, Drawing, Image, Stroke};
use super::matrix::{MOST_CELLS, cell_of, check_order};
use super::style::{LARGEST, MARGIN, Style, check_room};
use super::text::{fitting, width};
use crate::error::{Error, Result};

/// What the picture shows.
#[derive(Debug, Clone, Copy)]
pub struct Weights<'a> {
    /// From the vertex of the row to that of the column; without direction each pair once.
    pub weights: &'a [(u32, u32, f64)],
    /// Whether a pair is in one place or in two.
    pub directed: bool,
    /// The vertices in the order of the picture.
    pub order: &'a [usize],
    /// The sizes of the blocks in this order.
    pub blocks: &'a [usize],
    /// Which side each vertex is on: the first is drawn as rows and the second as columns.
    pub sides: Option<&'a [bool]>,
    /// The vertices' names, which are written if there is room.
    pub names: &'a [String],
}

/// The size of names, in points, where cells are large enough.
const NAME: f64 = 6.0;
/// A name is not wider than this.
const LONGEST: f64 = 80.0;
/// Large cells do not need to be larger.
const LARGEST_CELL: f64 = 12.0;

/// Rows or columns: the vertices, the sizes of their blocks, and the place of each vertex.
struct Line {
    vertices: Vec<usize>,
    blocks: Vec<usize>,
    place: Vec<Option<usize>>,
}

impl Line {
    fn new(input: &Weights, side: bool) -> Line {
        let here = |v: usize| input.sides.is_none_or(|sides| sides[v] == side);
        let vertices: Vec<usize> = input.order.iter().copied().filter(|&v| here(v)).collect();
        let mut rest = input.order;
        let mut blocks = Vec::new();
        for &size in input.blocks {
            let (block, after) = rest.split_at(size.min(rest.len()));
            blocks.push(block.iter().filter(|&&v| here(v)).count());
            rest = after;
        }
        blocks.retain(|&size| size > 0);
        let mut place = vec![None; input.order.len()];
        vertices.iter().enumerate().for_each(|(at, &v)| place[v] = Some(at));
        Line { vertices, blocks, place }
    }

    fn names<'a>(&self, input: &Weights<'a>, cell: f64) -> Option<Vec<&'a str>> {
        let names: Option<Vec<&str>> =
            self.vertices.iter().map(|&v| input.names.get(v).map(String::as_str)).collect();
        names.filter(|_| cell >= NAME)
    }
}

/// The ordered matrix, the darker the heavier (by the square root), negative weights in red, with borders of
/// blocks. Vertices have their names if there is room.
pub fn weights(input: &Weights, style: &Style) -> Result<Drawing> {
    let n = input.order.len();
    check_order(n, input.order, input.blocks)?;
    if input.weights.iter().any(|&(u, v, _)| u.max(v) as usize >= n) {
        return Err(Error::new(format!("there is a weight of a vertex beyond the {n} vertices")));
    }
    let (rows, columns) = (Line::new(input, false), Line::new(input, true));
    let (tall, wide) = (rows.vertices.len().max(1) as f64, columns.vertices.len().max(1) as f64);
    let title = "the weights between vertices, in the order of the blocks";
    let (mut drawing, area) = style.begin(LARGEST, title)?;
    let longest = |line: &Line| {
        let names = line.vertices.iter().filter_map(|&v| input.names.get(v));
        names.map(|name| width(name, NAME)).fold(0.0, f64::max).min(LONGEST) + 4.0
    };
    let room = |names: bool| {
        let (left, top) = if names { (longest(&rows), longest(&columns)) } else { (2.0, 2.0) };
        let (across, down) = (area.right - area.left - left, area.bottom - area.top - top);
        ((across / wide).min(down / tall).min(LARGEST_CELL), left, top)
    };
    let with_names = room(true);
    let (cell, left, top) = if with_names.0 >= NAME { with_names } else { room(false) };
    let named = with_names.0 >= NAME;
    // In the middle, if there is room to the left and right.
    let free = (area.right - area.left - left - cell * wide).max(0.0) / 2.0;
    let (x, y) = (area.left + left + free, area.top + top);
    let place = Area { left: x, top: y, right: x + cell * wide, bottom: y + cell * tall };
    check_room(&place)?;
    drawing.image(place, image(input, &rows, &columns));
    borders(&mut drawing, place, &rows, &columns);
    drawing.line(place.outline(), Stroke::plain(BLACK, 0.5));
    if named {
        for (at, name) in rows.names(input, cell).into_iter().flatten().enumerate() {
            let base = y + (at as f64 + 0.5) * cell + NAME * 0.36;
            drawing.text((x - 3.0, base), NAME, Anchor::End, &fitting(name, NAME, LONGEST));
        }
        for (at, name) in columns.names(input, cell).into_iter().flatten().enumerate() {
            let name = fitting(name, NAME, LONGEST);
            let middle = y - 3.0 - width(&name, NAME) / 2.0;
            drawing.text_up((x + (at as f64 + 0.5) * cell + NAME * 0.36, middle), NAME, &name);
        }
    }
    if style.height.is_none() {
        drawing.height = drawing.height.min((place.bottom + MARGIN + 2.0).ceil());
    }
    Ok(drawing)
}

fn borders(drawing: &mut Drawing, area: Area, rows: &Line, columns: &Line) {
    let stroke = Stroke::plain(OKABE_ITO[0], 0.6);
    let ends = |line: &Line| -> Vec<f64> {
        let all = line.vertices.len() as f64;
        let ends = line.blocks.iter().scan(0, |end, size| {
            *end += size;
            Some(*end as f64 / all)
        });
        let ends: Vec<f64> = ends.collect();
        ends[..ends.len().saturating_sub(1).min(100)].to_vec()
    };
    for share in ends(rows) {
        let y = area.top + share * area.height();
        drawing.line(vec![(area.left, y), (area.right, y)], stroke);
    }
    for share in ends(columns) {
        let x = area.left + share * area.width();
        drawing.line(vec![(x, area.top), (x, area.bottom)], stroke);
    }
}

fn image(input: &Weights, rows: &Line, columns: &Line) -> Image {
    let (tall, wide) = (rows.vertices.len(), columns.vertices.len());
    let (down, across) = (tall.clamp(1, MOST_CELLS), wide.clamp(1, MOST_CELLS));
    let mut sums = vec![0.0f64; down * across];
    let mut add = |u: u32, v: u32, weight: f64| {
        if let (Some(row), Some(column)) = (rows.place[u as usize], columns.place[v as usize]) {
            sums[cell_of(row, tall, down) * across + cell_of(column, wide, across)] += weight;
        }
    };
    for &(u, v, weight) in input.weights {
        add(u, v, weight);
        if !input.directed && u != v {
            add(v, u, weight);
        }
    }
    let largest = sums.iter().fold(0.0f64, |most, sum| most.max(sum.abs()));
    // White, then from grey to black, then from pale to full red.
    let shade = |sum: &f64| match (sum.abs() / largest).sqrt() {
        share if share > 0.0 => {
            (1.0 + (126.0 * share).round()) as u8 + if *sum < 0.0 { 128 } else { 0 }
        }
        _ => 0,
    };
    let red = OKABE_ITO[1];
    let colour = |level: u32| match level {
        0 | 128 => WHITE,
        1..=127 => mixed(WHITE, BLACK, 0.15 + 0.85 * f64::from(level) / 127.0),
        _ => mixed(WHITE, red, 0.15 + 0.85 * f64::from(level - 128) / 127.0),
    };
    Image {
        columns: across,
        rows: down,
        palette: (0..256).map(colour).collect(),
        cells: sums.iter().map(shade).collect(),
    }
}
