// Small helpers for numbers, lists of them and tables of columns.
function clamp(value, low, high) { return Math.max(low, Math.min(value, high)); }

// `count` whole numbers from `first` on.
function range(count, first = 0) { return Array.from({length: count}, (_, i) => first + i); }

// The largest of many numbers, `least` where none is larger; any kind of array.
function largest(numbers, least = 0) { return numbers.reduce((a, b) => Math.max(a, b), least); }

function total(numbers) { return numbers.reduce((a, b) => a + b, 0); }

// The first of `count` whole numbers for which `isPast` holds, when it holds for all that follow.
function firstOf(count, isPast) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPast(middle)) high = middle; else low = middle + 1;
  }
  return low;
}

// Number of entries <= value, or < value, in an ascending array.
function upperBound(ascending, value) { return firstOf(ascending.length, i => ascending[i] > value); }

function lowerBound(ascending, value) { return firstOf(ascending.length, i => ascending[i] >= value); }

// Row `i` of a table {name: column} as {name: value}.
function rowOf(table, i) { return Object.fromEntries(Object.entries(table).map(([name, column]) => [name, column[i]])); }

// key -> row numbers.
function groupRows(keys, numKeys) {
  const rows = Array.from({length: numKeys}, () => []);
  keys.forEach((key, row) => rows[key]?.push(row));
  return rows;
}
