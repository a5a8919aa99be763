//! What `x[key]` means, as a list of steps over ops. Knows neither Python nor data, so real and traced tensors share it.

use taipan_ir::{DType, Dim, OpError};

/// One part of a key. `x[a, b]` has two.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<T> {
    /// An integer.
    Int(Dim),
    /// `start:stop:step`; what isn't written is `None`.
    Slice(Option<Dim>, Option<Dim>, Option<Dim>),
    /// `None`.
    NewAxis,
    /// `...`.
    Ellipsis,
    /// `True` or `False`.
    Bool(bool),
    /// A tensor of at least one dim. One without dims is an integer or a flag; its user looks at its value.
    Tensor {
        /// The tensor.
        value: T,
        /// Its element type.
        dtype: DType,
        /// Its number of dims.
        rank: usize,
    },
}

/// One op on what the steps before gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<T> {
    /// `select.int(dim, index)`.
    Select {
        /// The dim that goes away.
        dim: usize,
        /// The index, possibly negative.
        index: Dim,
    },
    /// `slice.Tensor(dim, start, stop, step)`.
    Slice {
        /// The dim.
        dim: usize,
        /// First index, or the beginning.
        start: Option<Dim>,
        /// Index behind the last, or the end.
        stop: Option<Dim>,
        /// Distance, or one.
        step: Option<Dim>,
    },
    /// `unsqueeze(dim)`.
    Unsqueeze {
        /// Where the new dim goes.
        dim: usize,
    },
    /// `index.Tensor(indices)`; always the last step. A dim without an index keeps its place.
    Index(Vec<Option<Index<T>>>),
}

/// An index of the step [`Step::Index`].
#[derive(Clone, Debug, PartialEq)]
pub enum Index<T> {
    /// Integers, or a mask.
    Tensor(T),
    /// A one-element mask: `True` or `False` as an index.
    Bool(bool),
}

/// The steps of `x[items]` for an `x` of `sizes`. No step at all means `x` itself, seen anew.
///
/// # Errors
/// PyTorch's, for keys that don't fit the tensor.
pub fn plan<T: Clone>(items: &[Item<T>], sizes: &[Dim]) -> Result<Vec<Step<T>>, OpError> {
    let consumed: usize = items.iter().map(consumed_dims).sum();
    if sizes.is_empty() && items.iter().any(|item| matches!(item, Item::Int(_))) {
        return Err(OpError::index(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a \
             number",
        ));
    }
    if consumed > sizes.len() {
        return Err(OpError::index(format!("too many indices for tensor of dimension {}", sizes.len())));
    }
    let mut plan = Plan { steps: Vec::new(), indices: Vec::new(), dim: 0, masked: 0, sizes: sizes.to_vec() };
    let mut seen_ellipsis = false;
    for (place, item) in items.iter().enumerate() {
        if matches!(item, Item::Ellipsis) {
            // Only the first one stands for dims: it takes all that is left over.
            plan.dim += if seen_ellipsis { 0 } else { sizes.len() - consumed };
            seen_ellipsis = true;
            continue;
        }
        plan.add(place, item)?;
    }
    if !plan.indices.is_empty() {
        plan.steps.push(Step::Index(plan.indices));
    }
    Ok(plan.steps)
}

struct Plan<T> {
    steps: Vec<Step<T>>,
    indices: Vec<Option<Index<T>>>,
    /// The dim of the result so far that the next item is about.
    dim: usize,
    /// Dims that masks take beyond the one place they have among the indices.
    masked: usize,
    /// Sizes of the result so far.
    sizes: Vec<Dim>,
}

impl<T: Clone> Plan<T> {
    fn add(&mut self, place: usize, item: &Item<T>) -> Result<(), OpError> {
        let dim = self.dim;
        match item {
            Item::Int(index) => {
                self.check_bounds(place, *index)?;
                self.sizes.remove(dim);
                self.steps.push(Step::Select { dim, index: *index });
            }
            Item::Slice(start, stop, step) => {
                if let Some(Dim::Is(step)) = step
                    && *step <= 0
                {
                    let text = if *step == 0 { "slice step cannot be zero" } else { "step must be greater than zero" };
                    return Err(OpError::value(text));
                }
                if start.is_some() || stop.is_some() || step.is_some() {
                    self.steps.push(Step::Slice { dim, start: *start, stop: *stop, step: *step });
                }
                self.dim += 1;
            }
            Item::NewAxis => {
                self.unsqueeze();
                self.dim += 1;
            }
            Item::Ellipsis => {}
            Item::Bool(value) => {
                self.unsqueeze();
                self.index(Index::Bool(*value), 1);
            }
            Item::Tensor { value, dtype, rank } => {
                let mask = matches!(dtype, DType::Bool | DType::U8);
                if !mask && dtype.has_gradients() {
                    return Err(OpError::index("tensors used as indices must be long, int, byte or bool tensors"));
                }
                self.index(Index::Tensor(value.clone()), if mask { *rank } else { 1 });
            }
        }
        Ok(())
    }

    fn unsqueeze(&mut self) {
        self.sizes.insert(self.dim, Dim::Is(1));
        self.steps.push(Step::Unsqueeze { dim: self.dim });
    }

    fn index(&mut self, index: Index<T>, dims: usize) {
        let place = self.dim - self.masked;
        self.indices.resize(place, None);
        self.indices.push(Some(index));
        self.dim += dims;
        self.masked += dims - 1;
    }

    /// Symbolic sizes are left to the op's own rule, which records what it assumes. The "dimension" of the text is the item's
    /// place in the key, as in PyTorch.
    fn check_bounds(&self, place: usize, index: Dim) -> Result<(), OpError> {
        let (Dim::Is(index), Some(Dim::Is(size))) = (index, self.sizes.get(self.dim)) else { return Ok(()) };
        if index >= -size && index < *size {
            return Ok(());
        }
        Err(OpError::index(format!("index {index} is out of bounds for dimension {place} with size {size}")))
    }
}

fn consumed_dims<T>(item: &Item<T>) -> usize {
    match item {
        Item::Int(_) | Item::Slice(..) => 1,
        Item::NewAxis | Item::Ellipsis | Item::Bool(_) => 0,
        Item::Tensor { dtype, rank, .. } => match dtype {
            DType::Bool | DType::U8 => *rank,
            _ => 1,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(sizes: &[i64]) -> Vec<Dim> {
        sizes.iter().map(|size| Dim::Is(*size)).collect()
    }

    #[test]
    fn masks_take_as_many_dims_as_they_have() {
        let mask = Item::Tensor { value: 'm', dtype: DType::Bool, rank: 2 };
        let items = [mask, Item::Slice(Some(Dim::Is(1)), None, None)];
        let steps = plan(&items, &sizes(&[2, 3, 4])).unwrap();
        assert_eq!(
            steps,
            [Step::Slice { dim: 2, start: Some(Dim::Is(1)), stop: None, step: None }, Step::Index(vec![Some(Index::Tensor('m'))]),]
        );
    }

    #[test]
    fn an_ellipsis_takes_what_is_left() {
        let items: [Item<char>; 3] = [Item::NewAxis, Item::Ellipsis, Item::Int(Dim::Is(-1))];
        let steps = plan(&items, &sizes(&[2, 3])).unwrap();
        assert_eq!(steps, [Step::Unsqueeze { dim: 0 }, Step::Select { dim: 2, index: Dim::Is(-1) }]);
    }
}
