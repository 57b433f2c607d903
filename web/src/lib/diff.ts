// What two lists of lines have in common, and where they differ.
export interface Difference {
  kind: 'same' | 'gone' | 'new';
  text: string;
}

const most = 2000; // lines that are compared in full; beyond, only what begins or ends alike is found

export function compare(before: string[], after: string[]): Difference[] {
  let begin = 0;
  while (begin < before.length && begin < after.length && before[begin] === after[begin]) begin++;
  let end = 0;
  while (end < before.length - begin && end < after.length - begin && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const a = before.slice(begin, before.length - end);
  const b = after.slice(begin, after.length - end);
  const same = (text: string): Difference => ({ kind: 'same', text });
  return [...before.slice(0, begin).map(same), ...middle(a, b), ...before.slice(before.length - end).map(same)];
}

function middle(a: string[], b: string[]): Difference[] {
  const gone = (text: string): Difference => ({ kind: 'gone', text });
  const fresh = (text: string): Difference => ({ kind: 'new', text });
  if (a.length * b.length > most * most) return [...a.map(gone), ...b.map(fresh)];
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const found: Difference[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      found.push({ kind: 'same', text: a[i++] });
      j++;
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) found.push(gone(a[i++]));
    else found.push(fresh(b[j++]));
  }
  return [...found, ...a.slice(i).map(gone), ...b.slice(j).map(fresh)];
}
