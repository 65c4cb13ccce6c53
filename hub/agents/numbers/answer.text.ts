import { texts } from '../../i18n/words.ts'

/** The answers of the data agent, as sentences around figures that a query has found. */
export const answerText = texts(
  {
    nothing: (title: string) => `${title}: nothing was found.`,
    figure: (name: string, value: string) => `${name}: ${value}.`,
    total: (name: string, total: string, parts: string) => `${name}: ${total} in all (${parts}).`,
    parts: (name: string, parts: string) => `${name}: ${parts}.`,
    listed: (title: string, count: string, names: string) => `${title}: ${count} (${names}).`,
    at_least: (count: string) => `more than ${count}`,
    more: (names: string, count: string) => `${names} and ${count} more`,
    table: 'Table',
    query: 'Query',
    no_rows: 'No rows.',
    first_rows: (count: string) => `Only the first ${count} rows are shown.`,
    no_table: (table: string, tables: string) =>
      `There is no table or view "${table}" for this agent. There are these: ${tables}.`,
    no_column: (column: string, tables: string) =>
      `There is no column "${column}". The tables and their columns are: ${tables}.`,
  },
  {
    nothing: (title) => `${title}: bir şey bulunamadı.`,
    figure: (name, value) => `${name}: ${value}.`,
    total: (name, total, parts) => `${name}: toplam ${total} (${parts}).`,
    parts: (name, parts) => `${name}: ${parts}.`,
    listed: (title, count, names) => `${title}: ${count} (${names}).`,
    at_least: (count) => `${count} satırdan fazla`,
    more: (names, count) => `${names} ve ${count} tane daha`,
    table: 'Tablo',
    query: 'Sorgu',
    no_rows: 'Satır yok.',
    first_rows: (count) => `Yalnızca ilk ${count} satır gösteriliyor.`,
    no_table: (table, tables) =>
      `Bu ajanın görebileceği “${table}” adlı bir tablo yok. Olanlar: ${tables}.`,
    no_column: (column, tables) =>
      `“${column}” adlı bir sütun yok. Tablolar ve sütunları: ${tables}.`,
  },
)
