/** Splits text that comes in pieces into lines; a line that is not yet complete is kept. Empty lines are left out. */
export function lineSplitter(): (piece: string) => string[] {
  let begun: string[] = [];
  return (piece) => {
    const lines: string[] = [];
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      begun.push(piece.slice(from, end));
      const line = begun.join('');
      if (line.trim() !== '') lines.push(line);
      begun = [];
      from = end + 1;
    }
    if (from < piece.length) begun.push(piece.slice(from));
    return lines;
  };
}
