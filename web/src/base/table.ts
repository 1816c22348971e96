// A table as data: what a chart shows, for CSV, JSON and the table beside the chart.

export type Cell = string | number | boolean | null | undefined;

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

// RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe in front.
export function toCsv(table: Table): string {
  const quote = (cell: Cell): string => {
    if (cell === null || cell === undefined) return '';
    if (typeof cell !== 'string') return String(cell);
    const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return (
    [table.columns, ...table.rows].map((row) => row.map(quote).join(',')).join('\r\n') + '\r\n'
  );
}

export function toJson(table: Table): string {
  const rows = table.rows.map((row) =>
    Object.fromEntries(table.columns.map((column, i) => [column, row[i] ?? null])),
  );
  return `${JSON.stringify(rows, null, 1)}\n`;
}
