/**
 * Rows as aligned columns, two blanks apart, for a terminal and for a file alike.
 */

export interface Column<T> {
  readonly title: string;
  readonly of: (row: T) => string;
  /** Numbers and lengths read better flush right. */
  readonly right?: boolean;
}

/** The lines of a table, its header first. */
export function textTable<T>(columns: readonly Column<T>[], rows: readonly T[]): string[] {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => of(row)))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  return cells.map((line) =>
    line
      .map((cell, index) =>
        columns[index]?.right ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
