// What differs between two texts, in pieces: [how, text], how being same, out or in.
const MOST = 2000; // tokens; above it whole lines are compared, and above that nothing

const tokens = (text) => text.match(/\p{L}+|\p{N}+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];
const lines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

export function pieces(before, after) {
  for (const cut of [tokens, lines]) {
    const [a, b] = [cut(before), cut(after)];
    if (a.length + b.length <= MOST) return joined(common(a, b));
  }
  return joined([["out", before], ["in", after]]);
}

function common(a, b) {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i] === b[j]
        ? length[(i + 1) * width + j + 1] + 1
        : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push(["same", a[i++]]);
      j++;
    } else if (j >= b.length || (i < a.length && length[(i + 1) * width + j] >= length[i * width + j + 1])) found.push(["out", a[i++]]);
    else found.push(["in", b[j++]]);
  }
  return found;
}

// Neighbours of one kind become one piece.
function joined(found) {
  const made = [];
  for (const [how, text] of found) {
    if (made.at(-1)?.[0] === how) made.at(-1)[1] += text;
    else if (text) made.push([how, text]);
  }
  return made;
}
